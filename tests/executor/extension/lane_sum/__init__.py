from lane_sum import _C

lane_sum = _C.lane_sum
