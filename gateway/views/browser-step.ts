/**
 * The pending 3-D Secure step in a status response: a page that performs it (`html`), the gateway's
 * page for all remaining steps (`redirect-to`), and the step's own fields.
 */
import type { PendingStep } from "../orders/authentication.ts";
import { type Html, html } from "../values/html.ts";

export type PostForm = {
  readonly action: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
};

type Print = (step: PendingStep) => string | undefined;

const statuses: Readonly<Record<PendingStep["kind"], string>> = {
  method: "MethodUrlFrame",
  challenge: "CReqForm",
  pares: "PaReqForm",
};

const rows: readonly (readonly [name: string, print: Print])[] = [
  ["html", (step) => renderStep(step).text],
  ["redirect-to", (step) => step.redirectTo],
  ["tds-status", (step) => statuses[step.kind]],
  [
    "tds-method-url-frame-3ds-server-trans-id",
    (step) => (step.kind === "method" ? step.transactionId : undefined),
  ],
  [
    "tds-method-url-frame-3ds-method-url",
    (step) => (step.kind === "method" ? step.methodUrl : undefined),
  ],
  ["tds-creq-form-acs-url", (step) => (step.kind === "challenge" ? step.acsUrl : undefined)],
  ["tds-creq-form-creq", (step) => (step.kind === "challenge" ? step.creq : undefined)],
  ["tds-pareq-form-pareq", (step) => (step.kind === "pares" ? step.pareq : undefined)],
  ["tds-pareq-form-acs-url", (step) => (step.kind === "pares" ? step.acsUrl : undefined)],
  ["tds-pareq-form-md", (step) => (step.kind === "pares" ? step.md : undefined)],
];

export function printBrowserStep(
  step: PendingStep | undefined,
): readonly (readonly [name: string, value: string | undefined])[] {
  return rows.map(([name, print]) => [name, step && print(step)]);
}

/** Returns the form that is posted to the issuer. */
export function formOf(step: PendingStep): PostForm {
  switch (step.kind) {
    case "method":
      return { action: step.methodUrl, fields: [["threeDSMethodData", step.methodData]] };
    case "challenge":
      return { action: step.acsUrl, fields: [["creq", step.creq]] };
    case "pares":
      return {
        action: step.acsUrl,
        fields: [
          ["PaReq", step.pareq],
          ["TermUrl", step.termUrl],
          ["MD", step.md],
        ],
      };
  }
}

export function renderFields(fields: PostForm["fields"]): readonly Html[] {
  return fields.map(([name, value]) => {
    return html`<input type="hidden" name="${name}" value="${value}">\n`;
  });
}

/**
 * Renders a page that posts the form. The script finds the form by its id, because merchants may
 * embed the page in one of their own.
 */
function renderStep(step: PendingStep): Html {
  const { action, fields } = formOf(step);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Payment confirmation</title>
</head>
<body>
<form id="tds-step" method="post" action="${action}">
${renderFields(fields)}<button>Continue to your bank</button>
</form>
<script>document.getElementById("tds-step").submit();</script>
</body>
</html>
`;
}
