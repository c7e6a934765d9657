/**
 * Calculates the checksum of a request from the reader's own values, as a part of each operation's
 * page. Nothing that is typed here leaves the browser.
 */
async function checksumOf(text) {
  const bytes = new TextEncoder().encode(text);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Browsers offer cryptography only at secure addresses and at localhost. */
const canCalculate = globalThis.crypto?.subtle !== undefined;

function labelOf(term) {
  if (term === "{id}" || term === "{id?}") return "endpoint or group id";
  if (typeof term === "string") return term;
  if ("minorUnitsOf" in term) return `${term.minorUnitsOf} in minor units`;
  return `${term.moneyIfSent} in minor units and currency`;
}

for (const place of canCalculate ? document.querySelectorAll(".calculator") : []) {
  const { terms, values: known } = JSON.parse(place.dataset.formula);
  const inputs = [...terms.map(labelOf), "control key"].map((label, at) => {
    const options = {
      type: "text",
      value: known[at] ?? "",
      autocomplete: "off",
      spellcheck: false,
    };
    const input = make("input", options);
    return { input, row: make("label", {}, label, input) };
  });
  const output = make("output", { className: "mono" });
  const values = make("div", { className: "values" }, ...inputs.map(({ row }) => row));
  const title = make("p", { className: "title", textContent: "Compute it for your own values" });
  const note = make("p", { className: "note" });
  note.textContent = "The key stays in this browser: nothing that you type is sent or stored.";
  place.append(title, values, make("p", {}, "control = ", output), note);
  place.hidden = false;
  const update = async () => {
    const text = inputs.map(({ input }) => input.value.trim()).join("");
    const hasKey = inputs.at(-1).input.value.trim() !== "";
    output.textContent = hasKey ? await checksumOf(text) : "enter your control key";
  };
  for (const { input } of inputs) input.addEventListener("input", () => void update());
  void update();
}
