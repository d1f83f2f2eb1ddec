-- Records a milestone of a stream, once.
INSERT INTO milestones (stream, name)
SELECT {stream:String}, {name:String}
WHERE ({stream:String}, {name:String}) NOT IN (SELECT stream, name FROM milestones)
