/**
 * What runs in the cardholder's browser. Every script is the same for everybody and is allowed by
 * its hash; what differs stands in the page's markup. Old telephones pay too: plain ES2015.
 */
import { makeScript } from "../design.ts";

/** A browser may bring a page back from its memory, long after its step was taken. */
const lookAgainWhenBack = `
addEventListener("pageshow", function (event) { if (event.persisted) location.reload(); });
`;

/** What a page in the frame says to the page around it; only pages of ours say and hear it. */
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

export const submitAtOnce = makeScript(`${lookAgainWhenBack}
document.getElementById("form").submit();
`);

/** The issuer has ten seconds to look at the browser; its answer comes back into the frame. */
export const runMethod = makeScript(`${lookAgainWhenBack}${hearFrame}
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

/** The order may go on without its cardholder: the page is then no longer that of this step. */
const leaveWhenOver = `
function leaveWhenOver() {
  fetch(location.href).then(function (answer) {
    return answer.ok ? answer.text() : form.dataset.creq03;
  }).then(function (page) {
    if (page.indexOf(form.dataset.creq03) < 0) location.reload();
  }).catch(function () {});
}
`;

/** In a frame where one of the issuer's sizes fits the window, else in the whole window. */
export const openChallenge = makeScript(`${lookAgainWhenBack}${hearFrame}${leaveWhenOver}
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

/** Most banks answer at once, so the first looks are quick; a reload keeps the count of them. */
export const lookAgainSoon = makeScript(`${lookAgainWhenBack}
const seconds = document.querySelector("main").dataset.seconds;
const looks = history.state && history.state.looks || 0;
history.replaceState({ looks: looks + 1 }, "");
setTimeout(function () { location.reload(); }, 1000 * Math.min(0.2 * Math.pow(2, looks), seconds));
`);

/** In a frame of ours, the page around it goes on; in a shop's frame, the shop does. */
const goOnward = `${tellParent}
function goOn() {
  if (parent === self) location.replace(document.getElementById("on").href);
  else if (isInOurPage()) tellParent();
}
`;

export const goOn = makeScript(`${goOnward}
goOn();
`);

export const goOnSoon = makeScript(`${goOnward}
setTimeout(goOn, 5000);
`);

export const goOnWhenAsked = makeScript(`${tellParent}
document.getElementById("on").addEventListener("click", function (event) {
  if (!isInOurPage()) return;
  event.preventDefault();
  tellParent();
});
`);

export const tellMethodDone = makeScript(`${tellParent}
if (isInOurPage()) tellParent();
`);

/** The button is there only where it can do something. */
export const printWhenAsked = makeScript(`
const button = document.getElementById("print");
button.hidden = false;
button.addEventListener("click", function () { print(); });
`);
