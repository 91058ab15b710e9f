"""Cases of the checks of secrets, isolation and the hub."""

from __future__ import annotations

from tests.unit.plan.check_cases.case import BUILT, HERE, Case, Change, options
from tests.unit.plan.specs import VLLM


def _token(partition: str, region: str) -> Change:
    arn = f"arn:{partition}:secretsmanager:{region}:111122223333:secret:hub-AbCdEf"
    return {"model": {"weights": {"s3": None, "hub": {"revision": "main", "token_secret": arn}}}}


CASES = (
    Case(
        check="WS100",
        label="tokenizer",
        bad=[VLLM, {"endpoint": {"network_isolation": True}}, options(tokenizer="acme/tokenizer")],
        good=[VLLM, {"endpoint": {"network_isolation": True}}, options(tokenizer="/opt/ml/model")],
        path=("engine", "options", "tokenizer"),
        says="acme/tokenizer",
    ),
    Case(
        check="WS100",
        bad=[
            {"endpoint": {"network_isolation": True}, "model": {"weights": {"s3": None, "hub": {"revision": "main"}}}}
        ],
        good=[{"endpoint": {"network_isolation": True}}],
        path=("model", "weights"),
        says="network_isolation",
    ),
    Case(
        check="WS100",
        label="draft",
        bad=[
            VLLM,
            {
                "endpoint": {"network_isolation": True},
                "engine": {"speculative": {"method": "eagle3", "draft": "acme/eagle3"}},
            },
        ],
        good=[
            VLLM,
            {
                "endpoint": {"network_isolation": True},
                "engine": {"speculative": {"method": "eagle3", "draft": "eagle3/"}},
            },
        ],
        path=("engine", "speculative", "draft"),
        says="acme/eagle3",
    ),
    Case(
        check="WS101",
        bad=[
            {
                "model": {
                    "weights": {
                        "s3": None,
                        "hub": {"token_secret": "arn:aws:secretsmanager:us-west-2:111122223333:secret:hub-AbCdEf"},
                    }
                }
            }
        ],
        good=[{"model": {"weights": {"s3": None, "hub": {"revision": "main"}}}}],
        path=("model", "weights", "hub", "token_secret"),
        says="token",
    ),
    Case(
        check="WS102",
        bad=[{"model": {"weights": None}}],
        good=[{"model": {"weights": {"s3": None, "hub": {"revision": "a1b2"}}}}],
        path=("model", "weights"),
        says="hub",
    ),
    Case(
        check="WS103",
        bad=[{"model": {"id": "meta-llama/Llama-3.1-8B-Instruct", "weights": None}}],
        good=[{"model": {"weights": None}}],
        path=("model", "weights"),
        says="a stock image has no token",
    ),
    Case(
        check="WS104",
        bad=[options(chat_template="hf_abcdefghijklmnopqrst")],
        good=[options(chat_template="chat.jinja")],
        path=("engine", "options"),
        says="looks like a token",
    ),
    Case(
        check="WS105",
        bad=[BUILT, HERE, _token("aws-cn", "cn-north-1")],
        good=[BUILT, HERE, _token("aws", "us-west-2")],
        path=("model", "weights", "hub", "token_secret"),
        says="aws-cn",
    ),
    Case(
        check="WS105",
        label="another Region",
        bad=[BUILT, HERE, _token("aws", "eu-west-1")],
        good=[BUILT, HERE, _token("aws", "us-west-2")],
        path=("model", "weights", "hub", "token_secret"),
        says="eu-west-1",
        severity="note",
    ),
)
