"""Find the names that a code cell binds and reads, by the symbol tables of Python's own compiler."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from symtable import Symbol, SymbolTable, symtable


@cache
def parsed(source: str) -> ast.Module:
    """Parse code without IPython's lines, once; what cannot be parsed is empty, and reported elsewhere."""
    try:
        return ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.MULTILINE))
    except SyntaxError:
        return ast.Module([], [])


def bound_names(tree: ast.Module, imports: bool = False) -> set[str]:
    """Return the names that a cell binds for the cells after it, with those of modules on demand."""
    symbols = table_of(tree).get_symbols()
    return {s.get_name() for s in symbols if s.is_assigned() or (imports and s.is_imported())}


@cache
def table_of(tree: ast.Module) -> SymbolTable:
    """Return the names of a tree as the compiler sees them, once for each tree."""
    return symtable(ast.unparse(tree), "cell", "exec")


def read_names(tree: ast.Module) -> set[str]:
    """Return the names that a cell reads and does not bind before or in the same statement."""
    read: set[str] = set()
    bound: set[str] = set()
    for statement in tree.body:
        tree_of_one = ast.Module([statement], [])
        own = bound_names(tree_of_one, imports=True)
        names = {s.get_name() for s in global_symbols(tree_of_one) if s.is_referenced()}
        if isinstance(statement, ast.AugAssign):
            names |= own
        elif not isinstance(statement, ast.Assign):
            names -= own
        read |= names - bound
        bound |= own
    return read


def global_symbols(tree: ast.Module) -> Iterator[Symbol]:
    """Yield the symbols of a tree that are names of the page, in functions and comprehensions too."""
    tables = [table_of(tree)]
    for table in tables:
        is_page = table.get_type() == "module"
        yield from (symbol for symbol in table.get_symbols() if is_page or symbol.is_global())
        tables += table.get_children()
