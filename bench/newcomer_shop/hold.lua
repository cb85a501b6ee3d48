local began = redis.call('TIME')
repeat local now = redis.call('TIME') until (now[1] - began[1]) + (now[2] - began[2]) / 1e6 >= 5
