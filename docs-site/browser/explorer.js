/**
 * The explorer sends requests to this gateway. It makes them from the OpenAPI document, signs them
 * in the browser, and sends them as a merchant's server does. It is offered in staging only,
 * because it begins with the demonstration merchant's key. Only checksums made with the key are
 * sent, never the key.
 */
const explorer = document.getElementById("api-explorer");
if (explorer !== null) void startExplorer();

async function startExplorer() {
  explorer.hidden = false;
  const answer = await fetch("/docs/demonstration.json");
  if (!answer.ok || !canCalculate) {
    const why = canCalculate ? "This gateway is in production" : "This address is not secure";
    explorer.append(make("p", { className: "note", textContent: `${why}: no explorer here.` }));
    return;
  }
  const demonstration = await answer.json();
  const api = await (await fetch("/docs/openapi.json")).json();
  const operations = Object.entries(api.paths)
    .filter(([path, { post }]) => post?.["x-control"] && path.includes("{endpoint_id}"))
    .map(([path, { post }]) => ({ path, ...post }));
  const names = operations.map(({ path }) => path.replace(/^\/gw\/api\/|\/\{.*$/g, ""));
  const select = make("select", { id: "operation" }, ...names.map((name) => new Option(name)));
  const access = {
    endpoint: textInput(demonstration.ENDPOINT),
    login: textInput(demonstration.LOGIN),
    key: textInput(demonstration.CONTROL_KEY),
  };
  const fields = make("div", { className: "values" });
  const more = make("div", { className: "values" });
  const send = make("button", { type: "submit", textContent: "Send" });
  const reply = make("pre", { tabIndex: 0, hidden: true });
  reply.setAttribute("aria-live", "polite");
  const form = make(
    ...["form", { className: "calculator" }],
    make("div", { className: "values" }, row("operation", select), ...rowsOf(access)),
    fields,
    make("details", {}, make("summary", { textContent: "Optional fields" }), more),
    send,
  );
  explorer.append(form, reply);
  let inputs = {};
  const show = () => {
    inputs = showFields(api, operations[select.selectedIndex], { fields, more });
  };
  select.value = "v2/sync/sale";
  select.addEventListener("change", show);
  show();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const operation = operations[select.selectedIndex];
    send.disabled = true;
    reply.hidden = false;
    try {
      reply.textContent = await sendRequest(api, operation, { access, inputs });
    } catch (error) {
      reply.textContent = String(error);
    }
    send.disabled = false;
    if (begins(operation)) inputs.client_orderid.value = freshId();
  });
}

function textInput(value = "") {
  return make("input", { type: "text", value, autocomplete: "off", spellcheck: false });
}

function row(name, input) {
  return make("label", {}, name, input);
}

function rowsOf({ endpoint, login, key }) {
  return [row("endpoint", endpoint), row("login", login), row("control key", key)];
}

function freshId() {
  return `explorer-${crypto.randomUUID().slice(0, 8)}`;
}

/**
 * Fields that identify an order or a card. Their values come from the last reply instead of the
 * example.
 */
const references = ["client_orderid", "client-order-id", "orderid", "cardrefid", "by-request-sn"];

/** Whether the operation begins an order, and so gets a new order id. */
function begins(operation) {
  return String(operation["x-control"][0]).startsWith("{id");
}

/**
 * Shows the fields, first those of the example. `login` and `control` are added when the request is
 * sent.
 */
function showFields(api, operation, { fields, more }) {
  const [content] = Object.values(operation.requestBody.content);
  const schema = api.components.schemas[content.schema.$ref.split("/").at(-1)];
  const names = Object.keys(schema.properties).filter((name) => !/^(login|control)$/.test(name));
  const own = {};
  const rows = names.map((name) => {
    const { description, enum: words } = schema.properties[name];
    own[name] = textInput(references.includes(name) ? kept[name] : content.example[name]);
    if (name === "client_orderid" && begins(operation)) own[name].value = freshId();
    own[name].title = description;
    if (words) own[name].placeholder = words.join(" | ");
    return { name, isShown: content.example[name] !== undefined, row: row(name, own[name]) };
  });
  fields.replaceChildren(...rows.filter(({ isShown }) => isShown).map((each) => each.row));
  more.replaceChildren(...rows.filter(({ isShown }) => !isShown).map((each) => each.row));
  return own;
}

/** Values of the last reply, for the requests that follow it. */
const kept = {};

async function sendRequest(api, operation, { access, inputs }) {
  const sent = new Map();
  for (const [name, { value }] of Object.entries(inputs))
    if (value.trim()) sent.set(name, value.trim());
  const terms = operation["x-control"];
  if (terms.includes("login")) sent.set("login", access.login.value.trim());
  const digits = api["x-fraction-digits"][sent.get("currency")] ?? 2;
  const minor = (name) => {
    const [whole, fraction = ""] = (sent.get(name) ?? "").split(".");
    return whole === "" ? "" : String(BigInt(whole + fraction.padEnd(digits, "0")));
  };
  const text = terms.map((term) => {
    if (term === "{id}" || term === "{id?}") return access.endpoint.value.trim();
    if (typeof term === "string") return sent.get(term) ?? "";
    if ("minorUnitsOf" in term) return minor(term.minorUnitsOf);
    return sent.has(term.moneyIfSent) ? minor(term.moneyIfSent) + sent.get("currency") : "";
  });
  sent.set("control", await checksumOf(text.join("") + access.key.value.trim()));
  const path = operation.path.replace(
    "{endpoint_id}",
    encodeURIComponent(access.endpoint.value.trim()),
  );
  const answer = await fetch(path, {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams([...sent]),
  });
  const reply = await answer.json();
  const order = { client_orderid: "merchant-order-id", orderid: "gw-order-id" };
  const names = { ...order, "client-order-id": "merchant-order-id", cardrefid: "card-ref-id" };
  for (const [name, field] of Object.entries(names)) if (reply[field]) kept[name] = reply[field];
  return JSON.stringify(reply, undefined, 2);
}
