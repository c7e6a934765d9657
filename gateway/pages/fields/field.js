/**
 * The script of one hosted field. The page of the shop around it, which another site may have taken
 * over, gets nothing of the card: the field for the number reads the two others, which have the
 * same origin, and sends all three to the gateway. The gateway puts `isLuhnValid`, `networkOf`,
 * `splitExpiry`, `solveProof` and `groupDigits` before this script.
 */
const input = document.getElementById("value");
const { type, endpoint, api, errors, origins, code: refusal } = document.body.dataset;
const texts = JSON.parse(errors);
const word = input.autocomplete;
const answerMs = 30_000;
let [port, style, isBusy] = [undefined, {}, false];

const tell = (message) => port?.postMessage(message);

function fail(code) {
  isBusy = false;
  const known = texts[code] || texts[5000];
  const [message, tip, field, payerMessage] = known;
  tell({ event: "error", error: { code, message, tip, type: field, payerMessage } });
}

/** The first message of the page around is the only one that is heard; it brings the port. */
addEventListener("message", ({ source, origin, data, ports }) => {
  if (source !== parent || port || data?.from !== "hosted-fields" || !ports[0]) return;
  if (!refusal && !origins.split(" ").includes(origin)) return;
  [port] = ports;
  if (refusal) return fail(Number(refusal));
  port.onmessage = ({ data: asked }) => {
    if (asked.event === "style") setStyle(asked.style);
    if (asked.event === "tokenize" && type === "pan" && !isBusy) tokenize(asked.ticket);
  };
  input.placeholder = String(data.placeholder ?? "").slice(0, 100);
  setStyle(data.style);
  tell({ event: "ready", title: document.title });
});

const properties = [
  ...["color", "backgroundColor", "caretColor", "fontFamily", "fontSize", "fontWeight"],
  ...["fontStyle", "fontVariantNumeric", "letterSpacing", "lineHeight", "textAlign", "padding"],
  ...["border", "outline", "transition"],
];
let hasWarned = false;

/** A value that could load a file or end its declaration is dropped. */
function listStyles(bag) {
  return Object.entries(bag ?? {}).flatMap(([name, given]) => {
    const value = String(given);
    const isSafe = value.length <= 200 && !/url\(|expression|[@;{}\\]/i.test(value);
    if (properties.includes(name) && isSafe) return [[name, value]];
    if (!hasWarned) console.warn(`hosted fields: the style ${name.slice(0, 40)} is not supported`);
    hasWarned = true;
    return [];
  });
}

function setStyle(wanted) {
  style = wanted ?? {};
  paint();
}

function paint() {
  const isFocused = document.activeElement === input;
  input.style.cssText = "";
  for (const [name, value] of listStyles({ ...style.input, ...(isFocused && style.focus) })) {
    input.style[name] = value;
    if (/olor$/.test(name)) input.style.setProperty(`--${name}`, value);
  }
  for (const [name, value] of listStyles(style.placeholder)) {
    input.style.setProperty(`--placeholder-${name}`, value);
  }
}

/** Writes a complete date as `12 / 30`, and goes on to the year when the month is complete. */
function writeExpiry(isDeleting) {
  const text = inLatin(input.value);
  const [month, year = ""] = splitExpiry(text) ?? [];
  if (month && year !== "20") input.value = `${month} / ${year.slice(-2)}`;
  else if (!isDeleting && /^([2-9]|\d\d|\d\D+)$/.test(text.trim())) {
    input.value = `${digitsOf(text).padStart(2, "0")} / `;
  } else input.value = text.replace(/[^\d/ -]/g, "");
}

function onInput({ inputType = "" }) {
  // The browser saves the values of other fields on disk to restore the page after a restart.
  if (type !== "exp") input.autocomplete = input.value === "" ? word : "off";
  if (type === "pan") groupDigits(input);
  else if (type === "exp") writeExpiry(inputType.startsWith("delete"));
  else input.value = digitsOf(input.value).slice(0, 4);
  input.removeAttribute("aria-invalid");
  const digits = digitsOf(input.value);
  const network = type === "pan" && digits.length > 1 ? networkOf(digits) : undefined;
  tell({ event: "input", filled: input.value !== "", network });
}

/** The fields of the same shop's form, which the group names in their addresses. */
function findFields() {
  const found = {};
  for (let at = 0; at < parent.length; at += 1) {
    try {
      const { document: other, location: place } = parent[at];
      if (place.hash !== location.hash) continue;
      if (other.body.dataset.endpoint === endpoint) {
        found[other.body.dataset.type] = other.getElementById("value");
      }
    } catch {
      // A frame of another origin cannot be read.
    }
  }
  return found;
}

function isPast(month, year) {
  const today = new Date();
  const last = 12 * (2000 + Number(year.slice(-2))) + Number(month);
  return last < 12 * today.getFullYear() + today.getMonth() + 1;
}

function checkNumber(digits) {
  return digits.length >= 12 && digits.length <= 19 && isLuhnValid(digits);
}

function checkExpiry(text) {
  const [month, year] = splitExpiry(text) ?? [];
  return month >= 1 && month <= 12 && !isPast(month, year);
}

function tokenize(ticket) {
  const { pan, exp, cvv } = findFields();
  if (!pan || !exp || !cvv) return fail(5000);
  const cardNumber = digitsOf(pan.value);
  const codeLength = networkOf(cardNumber) === "AMEX" ? 4 : 3;
  const checks = [
    ...[pan, exp, cvv].map((each) => [each, each.value.trim() !== "", 2004]),
    [pan, checkNumber(cardNumber), 2001],
    [exp, checkExpiry(exp.value), 2002],
    [cvv, cvv.value.length >= codeLength, 2003],
  ];
  const [wrong, , code] = checks.find(([, isRight]) => !isRight) ?? [];
  if (wrong) {
    wrong.setAttribute("aria-invalid", "true");
    return fail(code);
  }
  isBusy = true;
  const card = { cardNumber, expiryDate: exp.value, cvv: cvv.value };
  void send({ ephemeralTicket: ticket, endpointId: endpoint, ...card });
}

async function send(asked) {
  const reply = await fetch(api, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(asked),
    referrerPolicy: "no-referrer",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.timeout(answerMs),
  })
    .then((response) => response.json())
    .catch(() => ({ code: 5001 }));
  if (reply.challenge) {
    solveProof(reply.challenge, (proof) => void send({ ...asked, proof }));
    return;
  }
  if (!reply.hostedFieldsToken) return fail(reply.code ?? 5000);
  isBusy = false;
  tell({ event: "token", token: reply.hostedFieldsToken });
}

input.addEventListener("input", onInput);
input.addEventListener("change", onInput);
for (const event of ["focus", "blur"]) {
  input.addEventListener(event, () => {
    paint();
    tell({ event });
  });
}
// The page around moves the focus into the frame when its label is clicked.
addEventListener("focus", () => input.focus());
// A browser keeps the fields of a page for the back button.
addEventListener("pagehide", () => {
  input.value = "";
});
