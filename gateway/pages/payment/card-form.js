/**
 * The script of the payment page. The page is a plain form that also works without the script. The
 * script groups digits, shows the network's mark, reports faults during typing and shows the time
 * left. It stores nothing, and sends the form only when the cardholder does. The gateway puts
 * `isLuhnValid`, `networkOf`, `splitExpiry`, `lengths` and `card-number.js` before this script.
 */
const form = document.getElementById("pay");
const at = (word) => document.getElementById(word);
const [number, month, year, cvv] = ["cc-number", "cc-exp-month", "cc-exp-year", "cc-csc"].map(at);
const [country, state] = ["country", "address-level1"].map(at);
const inputs = [...form.querySelectorAll("input[data-missing], select[data-missing]")];
const button = form.querySelector("button[type=submit]");

form.noValidate = true;
for (const input of [number, month]) input.removeAttribute("maxlength");

function showNetwork() {
  const digits = digitsOf(number.value);
  const network = digits.length < 2 ? undefined : networkOf(digits);
  const mark = form.querySelector(".boxed svg");
  const symbol = document.getElementById(`mark-${network || "none"}`);
  mark.querySelector("use").setAttribute("href", `#${symbol.id}`);
  at("network").textContent = network ? symbol.dataset.name : "";
  if (cvv) cvv.maxLength = network === "AMEX" ? 4 : 3;
}

const isDone = (digits) => Math.max(...(lengths[networkOf(digits)] || [19])) <= digits.length;

// The checks of the fields. Each check returns the field's fault, "missing" or "wrong", or an empty
// text.
const checks = {
  "cc-number"(text) {
    const digits = digitsOf(text);
    return digits.length >= 12 && digits.length <= 19 && isLuhnValid(digits) ? "" : "wrong";
  },
  "cc-exp-month": (text) => (/^(0?[1-9]|1[0-2])$/.test(text) ? "" : "wrong"),
  "cc-exp-year"(text) {
    if (!/^(20)?\d\d$/.test(text)) return "missing";
    const today = new Date();
    const last = 12 * (2000 + Number(text.slice(-2))) + Number(month.value || 12);
    return last < 12 * today.getFullYear() + today.getMonth() + 1 ? "wrong" : "";
  },
  "cc-csc"(text) {
    const count = networkOf(digitsOf(number.value)) === "AMEX" ? 4 : 3;
    return new RegExp(`^\\d{${count}}$`).test(text) ? "" : "wrong";
  },
  "email": (text) => (/^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(text) ? "" : "wrong"),
};

function faultOf(input) {
  const text = input.value.trim();
  if (input.closest("[hidden]")) return "";
  if (text === "") return input.required ? "missing" : "";
  return checks[input.id] ? checks[input.id](text) : "";
}

function show(input, fault) {
  const note = at(`${input.id}-fault`);
  const text = fault ? input.dataset[fault] : "";
  if (note.textContent !== text) note.textContent = text;
  if (fault) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

const hasFault = (input) => input.getAttribute("aria-invalid") === "true";

/**
 * Switches the browser's completion off while a field has a value, because a browser saves the
 * values of other fields on disk to restore the page after a restart. While the field is empty,
 * completion is on, so that the browser offers its saved cards.
 */
function keepOffDisk(input) {
  input.autocomplete = input.value === "" ? input.id : "off";
}

function onInput({ target }) {
  if (target === number || target === cvv) keepOffDisk(target);
  if (target === number) {
    groupDigits(number);
    showNetwork();
    const digits = digitsOf(number.value);
    if (hasFault(number) || isDone(digits)) show(number, faultOf(number));
    return;
  }
  if (target === month) readExpiry();
  if (target === year || target === cvv) {
    const digits = digitsOf(target.value);
    if (digits !== target.value) target.value = digits;
  }
  if (target === country) showStates();
  if (inputs.includes(target) && hasFault(target)) show(target, faultOf(target));
}

/**
 * Reads the month field, in which people type the month or the whole expiry date. `5` and `1/` are
 * months; `12/29` and `2029-12` fill the month and the year. After a complete month, the cursor
 * moves to the year.
 */
function readExpiry() {
  const whole = splitExpiry(month.value);
  if (whole) {
    [month.value, year.value] = whole;
    show(year, faultOf(year));
  } else {
    const digits = digitsOf(month.value).slice(0, 2);
    month.value = /^([2-9]$|\d\D)/.test(month.value) ? digits.padStart(2, "0") : digits;
  }
  if (month.value.length === 2 && document.activeElement === month) year.focus();
}

function showStates() {
  if (!state) return;
  let isNeeded = false;
  for (const group of state.querySelectorAll("optgroup")) {
    const isOwn = group.dataset.country === country.value;
    group.hidden = !isOwn;
    group.disabled = !isOwn;
    isNeeded = isNeeded || isOwn;
  }
  const chosen = state.selectedOptions[0];
  if (chosen?.parentElement.disabled) state.value = "";
  state.required = isNeeded;
  state.closest(".field").hidden = !isNeeded;
}

let isSent = false;
const { proof } = form.elements;
const challenge = proof?.dataset.challenge;

/**
 * Shows the faults of these fields, and moves the cursor to the first faulty field. Returns whether
 * there are no faults.
 */
function areRight(asked) {
  const faulty = asked.filter((input) => {
    const fault = faultOf(input);
    show(input, fault);
    return fault !== "";
  });
  faulty[0]?.focus();
  return faulty.length === 0;
}

/**
 * Prepares the form for sending. Returns false if it has to wait for the proof of work; it is then
 * sent as soon as the proof is found.
 */
function prepareToSend() {
  isSent = true;
  reportBrowser();
  button.setAttribute("aria-disabled", "true");
  button.querySelector("span").textContent = button.dataset.busy;
  return !challenge || proof.value !== "";
}

function onSubmit(event) {
  const isSentNow = !isSent && areRight(inputs) && prepareToSend();
  if (!isSentNow) event.preventDefault();
}

/**
 * If a shop embeds the page, Escape asks the shop's page to close it, unless the card is being
 * sent. Only the origins that may embed the page get this message.
 */
function onEscape({ key }) {
  if (key !== "Escape" || isSent || parent === self) return;
  const message = { from: "payment-page", event: "close" };
  for (const origin of form.dataset.embed.split(" ")) parent.postMessage(message, origin);
}

/** Fills in the browser's properties for 3-D Secure. */
function reportBrowser() {
  const seen = {
    color_depth: screen.colorDepth,
    java_enabled: Boolean(navigator.javaEnabled?.()),
    javascript_enabled: true,
    screen_height: screen.height,
    screen_width: screen.width,
    time_zone: new Date().getTimezoneOffset(),
  };
  for (const name of Object.keys(seen)) form.elements[`browser_${name}`].value = seen[name];
}

function countDown() {
  const time = at("time");
  if (!time) return;
  const endsAt = Date.now() + 1000 * Number(time.dataset.seconds);
  const tick = () => {
    const left = Math.ceil((endsAt - Date.now()) / 1000);
    if (left <= 0) return location.reload();
    time.hidden = left > 300;
    time.querySelector("span").textContent =
      `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    setTimeout(tick, left > 310 ? 5000 : 500);
  };
  tick();
}

form.addEventListener("input", onInput);
form.addEventListener("change", onInput);
form.addEventListener("focusout", ({ target }) => {
  if (target === month && /^\d$/.test(month.value)) month.value = `0${month.value}`;
  if (inputs.includes(target) && target.value.trim() !== "") show(target, faultOf(target));
});
year.addEventListener("keydown", ({ key }) => {
  if (key === "Backspace" && year.value === "") month.focus();
});
form.addEventListener("submit", onSubmit);
// A browser keeps the fields of a page for the back button. So the card number and the CVV are
// removed when the cardholder leaves the page.
addEventListener("pagehide", () => {
  for (const input of [number, cvv, form.elements.payment_data]) if (input) input.value = "";
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});

if (form.dataset.embed) addEventListener("keydown", onEscape);
if (challenge) {
  solveProof(challenge, (solution) => {
    proof.value = solution;
    if (isSent) form.submit();
  });
}

const isOfCard = ({ id }) => id.startsWith("cc-");
startWallets(
  form,
  () => !isSent && areRight(inputs.filter((input) => !isOfCard(input))),
  () => {
    for (const input of inputs.filter(isOfCard)) input.value = "";
    if (prepareToSend()) form.submit();
  },
);

groupDigits(number);
showNetwork();
showStates();
countDown();
// In a frame of another site, browsers ignore `autofocus`, so the script moves the focus to the
// notice.
if (parent !== self) document.querySelector(".notice")?.focus();
