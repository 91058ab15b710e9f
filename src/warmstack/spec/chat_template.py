"""Chat templates as transformers reads them. A module of its own, because most specs name none and need no Jinja."""

from __future__ import annotations

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser


class Generation(Extension):
    """``{% generation %}``: marks what the model says, for training; it changes nothing of the text."""

    def __init__(self, environment: jinja2.Environment) -> None:
        self.tags = {"generation"}
        super().__init__(environment)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Read what stands between the tags."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def parse_chat_template(text: str) -> None:
    """Look at a chat template: Jinja with loop controls and the generation tag.

    Raises:
        ValueError: it does not parse; the message has the line.
    """
    # Nothing is rendered here, so nothing has to be escaped.
    environment = jinja2.Environment(extensions=["jinja2.ext.loopcontrols", Generation])
    try:
        environment.parse(text)
    except jinja2.TemplateSyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.message}") from error
