from warmstack_formatters import output_formatter


@output_formatter
def to_client(response: dict) -> dict:
    return response
