"""The rules that a module defines, so that a test knows whether it breaks each."""

import ast
import inspect
from types import ModuleType


def rules_of(module: ModuleType) -> set[str]:
    """Its functions and tables, by name."""
    tree = ast.parse(inspect.getsource(module))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assigned = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return functions | {target.id for target in assigned if isinstance(target, ast.Name)}
