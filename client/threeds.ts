/**
 * Helps a shop that drives 3-D Secure itself, at one address of its own: `renderStep` makes the
 * page of the pending step, and `takeStep` uploads what the browser posts back to that address.
 */
import type {
  Acknowledgement,
  StatusReply,
  UploadCresResultRequest,
  UploadMethodUrlResultRequest,
  UploadParesResultRequest,
} from "./operations.generated.ts";
import { toBase64, utf8 } from "./web.ts";

export type StepOptions = {
  /** The shop's own address for this order, to which the browser and the issuer's pages post. */
  readonly returnUrl: string;
  /** The nonce of the shop's Content-Security-Policy, if the shop sends one. */
  readonly nonce?: string;
};

type Form = { readonly action: string; readonly fields: Readonly<Record<string, string>> };

/** Returns a complete page, or undefined if no step waits for the cardholder. */
export function renderStep(status: StatusReply, options: StepOptions): string | undefined {
  const { returnUrl } = options;
  const word = status["tds-status"];
  if (word === "MethodUrlFrame") return renderMethod(status, options);
  if (word === "CReqForm") {
    const action = status["tds-creq-form-acs-url"] ?? "";
    return renderRedirect(
      { action, fields: { creq: status["tds-creq-form-creq"] ?? "" } },
      options,
    );
  }
  if (word === "PaReqForm") {
    const [PaReq = "", MD = ""] = [status["tds-pareq-form-pareq"], status["tds-pareq-form-md"]];
    const action = status["tds-pareq-form-acs-url"] ?? "";
    return renderRedirect({ action, fields: { PaReq, MD, TermUrl: returnUrl } }, options);
  }
  return status.html;
}

/** The time that EMV 3DS allows the issuer's method. */
const methodWaitMs = 10_000;

/**
 * Returns the page of the method: a hidden frame runs the issuer's method, and the page then posts
 * the result and the browser's properties.
 */
function renderMethod(status: StatusReply, { returnUrl, nonce }: StepOptions): string {
  const threeDSServerTransID = status["tds-method-url-frame-3ds-server-trans-id"] ?? "";
  const data = { threeDSServerTransID, threeDSMethodNotificationURL: returnUrl };
  const threeDSMethodData = toBase64Url(JSON.stringify(data));
  const action = status["tds-method-url-frame-3ds-method-url"] ?? "";
  const result = {
    threeDSServerTransID,
    threeDSCompInd: "N",
    browserJavascriptEnabled: "false",
    browserLanguage: "",
    browserColorDepth: "",
    browserJavaEnabled: "",
    browserTZ: "",
    browserScreenHeight: "",
    browserScreenWidth: "",
  };
  const frame = '<iframe name="method" title="Check by your bank" hidden></iframe>';
  const forms =
    renderForm({ action, fields: { threeDSMethodData } }, 'id="start" target="method"') +
    renderForm({ action: returnUrl, fields: result }, 'id="result"', button);
  return renderPage(`${frame}${forms}`, methodScript, nonce);
}

const methodScript = `
const form = document.getElementById("result");
const browser = {
  browserLanguage: navigator.language, browserColorDepth: screen.colorDepth,
  browserJavaEnabled: navigator.javaEnabled(), browserJavascriptEnabled: true,
  browserTZ: new Date().getTimezoneOffset(),
  browserScreenHeight: screen.height, browserScreenWidth: screen.width,
};
for (const [name, value] of Object.entries(browser)) form.elements[name].value = value;
let isSent = false;
function report(completed) {
  if (isSent) return;
  isSent = true;
  form.elements.threeDSCompInd.value = completed;
  form.submit();
}
addEventListener("message", ({ origin, data }) => {
  if (origin === location.origin && data === "3ds-method-done") report("Y");
});
setTimeout(report, ${methodWaitMs}, "N");
document.getElementById("start").submit();`;

/** The script of the page that the hidden frame shows at the shop's own address. */
const noticeScript = `parent.postMessage("3ds-method-done", location.origin);`;

function renderRedirect(form: Form, { nonce }: StepOptions): string {
  const script = `document.getElementById("start").submit();`;
  return renderPage(renderForm(form, 'id="start"', button), script, nonce);
}

const button = "<noscript><button>Continue to your bank</button></noscript>";

function renderForm({ action, fields }: Form, attributes: string, more = ""): string {
  if (!/^https?:\/\//i.test(action)) throw new TypeError("the step has no address to post to");
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`,
  );
  const tag = `<form method="post" action="${escapeHtml(action)}" ${attributes}>`;
  return `${tag}${inputs.join("")}${more}</form>`;
}

const style = "body{margin:20vh 1rem;font:1.125rem/1.5 system-ui,sans-serif;text-align:center}";

function renderPage(body: string, script: string, nonce: string | undefined): string {
  const marked = nonce === undefined ? "" : ` nonce="${escapeHtml(nonce)}"`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Your bank</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style${marked}>${style}</style>
<p>Your bank is confirming the payment…</p>
${body}<script${marked}>${script}</script></html>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function toBase64Url(text: string): string {
  return toBase64(utf8(text))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/(?<!=)=+$/, "");
}

/** The uploads, which an endpoint or a group of the client offers. */
type Uploads = {
  uploadMethodUrlResult(request: UploadMethodUrlResultRequest): Promise<Acknowledgement>;
  uploadCresResult(request: UploadCresResultRequest): Promise<Acknowledgement>;
  uploadParesResult(request: UploadParesResultRequest): Promise<Acknowledgement>;
};

export type TakenStep = {
  /** The answer to the issuer's post in the hidden frame. Send it, and do nothing else. */
  readonly html?: string;
  /** With "uploaded", wait for the result or for the next step. */
  readonly kind: "notice" | "uploaded" | "nothing";
};

/**
 * Uploads a posted form. `posted` is the form that came to `returnUrl`; the order comes from the
 * shop's own record.
 */
export async function takeStep(
  endpoint: Uploads,
  order: { readonly orderid: string; readonly client_orderid: string },
  posted: Readonly<Record<string, string | undefined>>,
  { returnUrl, nonce }: StepOptions,
): Promise<TakenStep> {
  const ids = { orderid: order.orderid, "client-order-id": order.client_orderid };
  const { threeDSCompInd, threeDSMethodData, cres, PaRes, MD = "" } = posted;
  if (threeDSMethodData !== undefined) {
    return { kind: "notice", html: renderPage("", noticeScript, nonce) };
  }
  if (threeDSCompInd !== undefined) {
    const { threeDSServerTransID = "" } = posted;
    const browser = Object.fromEntries(browserFields.map((name) => [name, posted[name]]));
    const result = { threeDSServerTransID, threeDSCompInd, notificationURL: returnUrl };
    await endpoint.uploadMethodUrlResult({ ...ids, ...result, ...browser });
  } else if (cres !== undefined) {
    await endpoint.uploadCresResult({ ...ids, cres });
  } else if (PaRes !== undefined) {
    await endpoint.uploadParesResult({ ...ids, paRes: PaRes, md: MD });
  } else return { kind: "nothing" };
  return { kind: "uploaded" };
}

const browserFields = [
  ...["browserLanguage", "browserColorDepth", "browserJavaEnabled", "browserJavascriptEnabled"],
  ...["browserTZ", "browserScreenHeight", "browserScreenWidth"],
];
