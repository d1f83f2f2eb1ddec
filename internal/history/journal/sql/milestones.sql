-- How often a milestone of a stream is recorded; 0 means never reached.
SELECT count() AS n FROM milestones WHERE stream = {stream:String} AND name = {name:String}
