"""The images that the endpoint runs, or that its own are built on: in the registry, and in the right Region."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warmstack.catalog import registry_domain
from warmstack.operate.asking import RefusedError, ask, not_seen, reading
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.results import Result
from warmstack.plan import ImagePlan, Plan

_PRIVATE = re.compile(
    r"(?P<account>[0-9]{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.(?P<suffix>[a-z0-9.-]+)/(?P<repository>[^:@]+)"
    r"(?::(?P<tag>[^:@]+))?(?:@(?P<digest>sha256:[0-9a-f]+))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Private:
    account: str
    region: str
    repository: str
    tag: str | None
    digest: str | None


def check_images(plan: Plan, account: Account) -> Iterator[Result]:
    """Yield whether each image is in its registry."""
    for uri, image in {one.image.uri: one.image for one in plan.models}.items():
        text = _resolved(uri, plan, account.region)
        if text is None:
            yield checks.IMAGE.failed(
                f"{image.repository}:{image.tag}",
                f"no registry of it is known in {account.region}",
                fix="choose another Region or engine.version, or give image.base",
            )
            continue
        found = _PRIVATE.fullmatch(text)
        if found is None:
            yield checks.IMAGE.skipped(text, "it is not in a private registry of ECR; it is not looked for")
            continue
        parts = found.groupdict()
        place = _Private(**{name: parts[name] for name in ("account", "region", "repository", "tag", "digest")})
        yield _look(text, image, place, account)


def _look(text: str, image: ImagePlan, place: _Private, account: Account) -> Result:
    check = checks.IMAGE
    if place.region != account.region and image.build is None:
        return check.failed(text, f"it is in {place.region}; SageMaker pulls from {account.region} only")
    if place.region != account.region:
        return check.skipped(
            text, f"the base is in {place.region}, and {account.region} is asked; it is not looked for"
        )
    if account.local is not None and place.account != account.local.account:
        return check.skipped(text, f"a local AWS has no registry of {place.account}; local copies start without images")
    wanted = {"imageDigest": place.digest} if place.digest else {"imageTag": place.tag or "latest"}
    action = "ecr:BatchGetImage"
    try:
        answer = ask(
            action,
            account.service("ecr").batch_get_image,
            registryId=place.account,
            repositoryName=place.repository,
            imageIds=[wanted],
        )
        with reading(action):
            found, failures = answer["images"], answer.get("failures") or [{}]
    except RefusedError as refused:
        if refused.kind == "missing" and account.local is not None:
            return _not_local(text)
        if refused.kind == "missing":
            return check.failed(text, f"registry {place.account} has no repository {place.repository}")
        return not_seen(check, text, refused)
    if found:
        digest = found[0].get("imageId", {}).get("imageDigest", "")
        built = f"; {image.build} is built on it" if image.build else ""
        return check.passed(text, f"it is there{f', {digest[:19]}…' if digest else ''}{built}")
    if account.local is not None:
        return _not_local(text)
    return check.failed(text, f"it is not there: {failures[0].get('failureReason') or 'the tag is not known'}")


def _not_local(text: str) -> Result:
    return checks.IMAGE.skipped(text, "it is not in the local registry; local copies start without images")


def _resolved(uri: str, plan: Plan, region: str) -> str | None:
    if "${Registry}" in uri:
        registry = plan.registries.get(region)
        if registry is None:
            return None
        uri = uri.replace("${Registry}", registry)
    domain = registry_domain(region)
    if domain is None and "${AWS::URLSuffix}" in uri:
        return None
    return uri.replace("${AWS::Region}", region).replace("${AWS::URLSuffix}", domain or "")
