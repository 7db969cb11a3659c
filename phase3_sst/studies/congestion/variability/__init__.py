"""Chunduri et al.: estimates a run's deviation from its usual time from the counters of its nodes' routers."""
