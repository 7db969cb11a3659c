"""Reports of other tools -> the tables of measurements that a validation study reads (``manynode measured``)."""
