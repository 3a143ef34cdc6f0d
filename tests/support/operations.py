"""All operations that engines perform."""

from __future__ import annotations

from typing import Any

from es_simhash.plans import operations
from es_simhash.plans.operations import Operation, Wait, Write

OPERATIONS: set[type[Operation[Any]]] = {
    each for each in vars(operations).values() if isinstance(each, type) and issubclass(each, Operation)
} - {Operation, Write, Wait}
