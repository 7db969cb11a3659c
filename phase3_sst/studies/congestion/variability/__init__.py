"""Chunduri et al.: how far a run was from its usual time, told by the counters of its nodes' routers."""
