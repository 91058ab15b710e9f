// Shows the status of the local endpoint, anew each second. Text goes in as text: nothing of a request becomes markup.
"use strict";

const EVERY_MS = 1000;

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function row(...cells) {
  const made = element("tr");
  made.append(...cells);
  return made;
}

function percent(rate) {
  return rate === null || rate === undefined ? "–" : `${Math.round(rate * 100)} %`;
}

function seconds(value) {
  if (value === null) return "–";
  return value < 1 ? `${(value * 1000).toFixed(1)} ms` : `${value.toFixed(2)} s`;
}

function rateCell(cache) {
  const cell = element("td", undefined, "number");
  const rate = cache ? cache.hit_rate : null;
  if (rate !== null) {
    const meter = element("span", undefined, "meter");
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    picture.setAttribute("aria-hidden", "true");
    bar.setAttribute("width", `${rate * 100}%`);
    bar.setAttribute("height", "100%");
    picture.append(bar);
    meter.append(picture);
    cell.append(meter);
  }
  cell.append(percent(rate));
  return cell;
}

function copyRow(instance, copy) {
  const faults = copy.faults.concat(copy.failure ? [copy.failure] : []).join(", ");
  return row(
    element("td", instance.name),
    element("td", copy.name.slice(instance.name.length + 1), "name"),
    element("td", copy.state, copy.state),
    element("td", copy.in_flight, "number"),
    element("td", copy.served, "number"),
    rateCell(copy.cache),
    element("td", copy.cache ? percent(copy.cache.warm_rate) : "–", "number"),
    element("td", faults, "fault"),
  );
}

function table(heads, rows) {
  const made = element("table");
  const head = element("thead");
  head.append(row(...heads.map(([text, className]) => {
    const cell = element("th", text, className);
    cell.scope = "col";
    return cell;
  })));
  const body = element("tbody");
  body.append(...rows);
  made.append(head, body);
  const scroll = element("div", undefined, "scroll");
  scroll.append(made);
  return scroll;
}

function fact(name, value) {
  const made = element("span", `${name} `);
  made.append(element("strong", value));
  return made;
}

function endpoint(one) {
  const made = element("article", undefined, "endpoint");
  made.dataset.endpoint = one.name;
  made.append(element("h2", one.name));
  const facts = element("p", undefined, "facts");
  facts.append(fact("status", one.status), fact("sessions", one.sessions),
    fact("hit rate", percent(one.cache ? one.cache.hit_rate : null)));
  for (const variant of one.variants) {
    const routing = variant.routing;
    const detail = routing.prefix_length === null ? ""
      : `, prefix ${routing.prefix_length}, threshold ${routing.concurrency_threshold}`;
    facts.append(fact(variant.name, `${routing.strategy}${detail}`));
  }
  made.append(facts);
  const rows = one.variants.flatMap((variant) => variant.instances.flatMap(
    (instance) => instance.copies.map((copy) => copyRow(instance, copy))));
  made.append(table([["Instance"], ["Copy"], ["State"], ["In flight", "number"], ["Served", "number"],
    ["Hit rate", "number"], ["With tiers", "number"], ["Faults"]], rows));
  if (one.components.length) {
    const list = element("ul", undefined, "components");
    list.append(...one.components.map((component) => {
      const copies = component.desired_copies === 1 ? "1 copy" : `${component.desired_copies} copies`;
      const kind = component.base ? `adapter of ${component.base}` : copies;
      return element("li", `${component.name} (${kind}${component.refuses ? ", refuses" : ""})`);
    }));
    made.append(list);
  }
  return made;
}

function requestRow(entry) {
  return row(
    element("td", entry.number, "number"),
    element("td", entry.operation.replace("InvokeEndpoint", "Invoke").replace("WithResponseStream", " (stream)")
      .replace("OpenAI chat completions", "OpenAI chat")),
    element("td", entry.component ? `${entry.endpoint} / ${entry.component}` : entry.endpoint),
    element("td", entry.copy || "–", "name"),
    element("td", entry.problem ? `${entry.detail} – ${entry.problem}` : entry.detail, "why"),
    element("td", entry.status === null ? "runs" : entry.status, entry.status >= 400 ? "number failed" : "number"),
    element("td", seconds(entry.first_byte_seconds), "number"),
    element("td", seconds(entry.seconds), "number"),
  );
}

function show(status) {
  document.body.classList.remove("lost");
  document.getElementById("about").textContent =
    `${status.source} at ${status.url}, ${status.engine} engine, ${status.requests} requests` +
    (status.ready ? "" : ", copies are starting");
  document.getElementById("endpoints").replaceChildren(...status.endpoints.map(endpoint));
  const requests = document.querySelector("#requests tbody");
  requests.replaceChildren(...status.last_requests.slice(0, 50).map(requestRow));
  document.getElementById("requests").hidden = status.last_requests.length === 0;
  document.getElementById("no-requests").hidden = status.last_requests.length !== 0;
  const notices = document.getElementById("notices");
  notices.hidden = status.notices.length === 0;
  notices.querySelector("ul").replaceChildren(...status.notices.map((notice) => element("li", notice)));
}

async function look() {
  try {
    const answer = await fetch("status", { cache: "no-store" });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
  } catch {
    document.body.classList.add("lost");
    document.getElementById("about").textContent = `The local endpoint does not answer.`;
  }
  setTimeout(look, EVERY_MS);
}

look();
