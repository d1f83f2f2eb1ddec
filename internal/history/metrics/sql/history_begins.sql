-- When public history begins.
SELECT toUnixTimestamp64Micro(min(record_time)) AS first, toInt64(0) AS last FROM updates WHERE stream = {stream:String}
