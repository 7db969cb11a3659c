"""Zhang et al.: how congestion slows applications down, and what router counters tell of it.

Zhang, Groves, Cook, Wright, Coskun: Quantifying the impact of network congestion on application performance and network
metrics (IEEE CLUSTER 2020).
"""
