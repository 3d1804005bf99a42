# Flow sizes of web search clusters (Alizadeh et al., "Data Center TCP", SIGCOMM 2010), in the points
# that were published with HPCC (Li et al., SIGCOMM 2019; traffic_gen/WebSearch_distribution.txt of
# alibaba-edu/High-Precision-Congestion-Control). Bytes, then cumulative chance in percent.
0 0
10000 15
20000 20
30000 30
50000 40
80000 53
200000 60
1000000 70
2000000 80
5000000 90
10000000 97
30000000 100
