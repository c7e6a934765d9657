/**
 * The scripts of the cardholder's pages. They are the same for every order, whose values they read
 * in the markup, so that a page's policy permits them by their hashes. They use ES2015 only,
 * because old phones know no later version.
 */
import { makeScript } from "../design.ts";

/** A page that the browser restores from its cache is reloaded, because its step may be over. */
const reloadWhenRestored = `
addEventListener("pageshow", function (event) { if (event.persisted) location.reload(); });
`;

/** The frame's report is accepted only if both pages belong to the gateway. */
const hearFrame = `
function whenDone(then) {
  addEventListener("message", function (event) {
    const isFrame = event.source === document.getElementById("frame").contentWindow;
    if (isFrame && event.origin === location.origin && event.data === "done") then();
  });
}
`;
const tellParent = `
function isInOurPage() {
  try { return parent !== self && parent.location.origin === location.origin; }
  catch (error) { return false; }
}
function tellParent() { parent.postMessage("done", location.origin); }
`;

/** The browser delivers the message only to the origins that the payment page names. */
const tell = `
const told = document.getElementById("told").dataset;
const isEmbedded = parent !== self;
if (isEmbedded) {
  const message = {
    from: "payment-page", event: "result",
    status: told.status, orderId: told.orderId, clientOrderId: told.clientOrderId,
  };
  for (const origin of told.origins.split(" ")) parent.postMessage(message, origin);
}
`;

export const tellShop = makeScript(tell);

/** If the shop's script ignores the message, a button opens the shop in the whole window. */
export const tellShopOrReturn = makeScript(`${reloadWhenRestored}${tell}
const form = document.getElementById("form");
if (isEmbedded) form.target = "_top";
else form.submit();
`);

export const submitAtOnce = makeScript(`${reloadWhenRestored}
document.getElementById("form").submit();
`);

/** If the issuer's page reports nothing within ten seconds, the authentication goes on. */
export const runMethod = makeScript(`${reloadWhenRestored}${hearFrame}
const report = document.getElementById("report");
const seen = {
  browserLanguage: navigator.language || "",
  browserColorDepth: screen.colorDepth,
  browserJavaEnabled: Boolean(navigator.javaEnabled && navigator.javaEnabled()),
  browserJavascriptEnabled: true,
  browserTZ: new Date().getTimezoneOffset(),
  browserScreenHeight: screen.height,
  browserScreenWidth: screen.width,
};
let isSent = false;
function send(completion) {
  if (isSent) return;
  isSent = true;
  for (const name of Object.keys(seen)) report.elements[name].value = seen[name];
  report.elements.threeDSCompInd.value = completion;
  report.submit();
}
report.querySelector("button").hidden = true;
whenDone(function () { send("Y"); });
setTimeout(send, 10000, "N");
document.getElementById("form").submit();
`);

/** Reloads the page if the order no longer waits for the challenge that the page shows. */
const leaveWhenOver = `
function leaveWhenOver() {
  fetch(location.href).then(function (answer) {
    return answer.ok ? answer.text() : form.dataset.creq03;
  }).then(function (page) {
    if (page.indexOf(form.dataset.creq03) < 0) location.reload();
  }).catch(function () {});
}
`;

/** If no standard size of a challenge fits into the window, the challenge gets the whole window. */
export const openChallenge = makeScript(`${reloadWhenRestored}${hearFrame}${leaveWhenOver}
const form = document.getElementById("form");
const frame = document.getElementById("frame");
const sizes = [
  { width: 500, height: 600, creq: form.dataset.creq03 },
  { width: 600, height: 400, creq: form.dataset.creq04 },
];
const fitting = sizes.find(function (size) {
  return innerWidth >= size.width + 100 && innerHeight >= size.height + 200;
});
if (fitting) {
  frame.width = fitting.width;
  frame.height = fitting.height;
  frame.hidden = false;
  form.elements.creq.value = fitting.creq;
  form.target = frame.name;
  form.querySelector("button").hidden = true;
  whenDone(function () { location.reload(); });
  setInterval(leaveWhenOver, 4000);
}
form.submit();
`);

/**
 * Reloads until the order has continued, at first quickly, because most issuers answer at once. The
 * browser's history keeps the number of reloads.
 */
export const reloadSoon = makeScript(`${reloadWhenRestored}
const seconds = document.querySelector("main").dataset.seconds;
const looks = history.state && history.state.looks || 0;
history.replaceState({ looks: looks + 1 }, "");
setTimeout(function () { location.reload(); }, 1000 * Math.min(0.2 * Math.pow(2, looks), seconds));
`);

/**
 * Goes on after the issuer's page has returned. In a frame of the gateway's own page, that page
 * goes on. In a frame of a shop's page, the frame goes on only if the shop has embedded the payment
 * page; otherwise the shop's page goes on itself.
 */
const goOnward = `${tellParent}
function goOn() {
  const on = document.getElementById("on");
  if (parent !== self && isInOurPage()) tellParent();
  else if (parent === self || on.target === "_self") location.replace(on.href);
}
`;

export const goOn = makeScript(`${goOnward}
goOn();
`);

export const goOnSoon = makeScript(`${goOnward}
setTimeout(goOn, 5000);
`);

export const goOnWhenClicked = makeScript(`${tellParent}
document.getElementById("on").addEventListener("click", function (event) {
  if (!isInOurPage()) return;
  event.preventDefault();
  tellParent();
});
`);

export const reportMethodDone = makeScript(`${tellParent}
if (isInOurPage()) tellParent();
`);

/** Without scripts, the print button stays hidden. */
export const printWhenClicked = makeScript(`
const button = document.getElementById("print");
button.hidden = false;
button.addEventListener("click", function () { print(); });
`);
