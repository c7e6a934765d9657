/**
 * The examples of the documents: their requests in order, from which `languages.ts` writes the same
 * example in four languages. A value that begins with `$` is a variable: in capitals one of the
 * environment, otherwise a new order id or a field that a step has kept. Within a longer text, such
 * a variable stands as `${name}`.
 */

export type Fields = Readonly<Record<string, string>>;

export type Step = {
  /** Describes the step for the reader. */
  readonly does: string;
  readonly operation: string;
  /** Whether the step waits for the result. */
  readonly sync?: boolean;
  readonly endpoint?: "ENDPOINT" | "SECURE_ENDPOINT";
  readonly fields: Fields;
  /** Fields of the reply that later steps need, by the names of their variables. */
  readonly keeps?: Fields;
};

/**
 * A step that gets a wallet's payment data from the sandbox bank, in place of a wallet on a phone.
 */
export type Mint = { readonly mint: string; readonly keeps: string; readonly card: string };

export type Recipe = {
  /** Whether the requests are signed by OAuth, in v4, instead of by a checksum. */
  readonly oauth?: boolean;
  /** The prefixes of new order ids, by the names of their variables. */
  readonly ids: Fields;
  readonly steps: readonly (Step | Mint)[];
};

const payer = {
  email: "jane@example.com",
  phone: "+1 555 0100",
  ipaddress: "203.0.113.7",
  address1: "1 Main Street",
  city: "Springfield",
  state: "IL",
  zip_code: "62701",
  country: "US",
};

function card(number: string): Fields {
  return {
    credit_card_number: number,
    card_printed_name: "JANE DOE",
    expire_month: "12",
    expire_year: "2030",
    cvv2: "123",
  };
}

const tickets = { order_desc: "Two tickets", amount: "10.42", currency: "USD" };
const month = { order_desc: "A month of apples", amount: "19.99", currency: "USD" };
const approving = card("4000001000000018");
const order = { client_orderid: "$id", orderid: "$orderid" };
const shopPage = { redirect_url: "https://shop.example/return" };
const keepsOrder = { orderid: "gw-order-id" };

const sale: Step = {
  does: "Charge a card, and wait for the result.",
  operation: "sale",
  sync: true,
  fields: { client_orderid: "$id", ...tickets, ...payer, ...approving },
};
const paid: Step = { ...sale, keeps: keepsOrder };
const held: Step = {
  ...paid,
  does: "Hold an amount.",
  operation: "preauth",
  fields: { ...sale.fields, order_desc: "Two nights", amount: "180.00" },
};
const registered: Step = {
  does: "Register the card.",
  operation: "create-card-ref",
  fields: order,
  keeps: { cardrefid: "card-ref-id" },
};
const status: Step = { does: "Ask for the result.", operation: "status", fields: order };

function rebill(operation: string): Recipe {
  const does = "Charge the registered card, without its number.";
  const fields = { client_orderid: "$next", cardrefid: "$cardrefid", ...month };
  const paying = { does, operation, sync: true, fields: { ...fields, ipaddress: payer.ipaddress } };
  return { ids: { id: "invoice", next: "subscription" }, steps: [paid, registered, paying] };
}

function form(operation: string, does: string, priced: Fields): Recipe {
  const { email } = payer;
  const fields = { client_orderid: "$id", ...priced, email, ...shopPage };
  return { ids: { id: "invoice" }, steps: [{ does, operation, fields }] };
}

function secure(number: string, keeps: Fields): Step {
  return {
    does: "Charge a card at an endpoint with 3-D Secure.",
    operation: "sale",
    sync: true,
    endpoint: "SECURE_ENDPOINT",
    keeps,
    fields: { ...sale.fields, ...card(number), ...shopPage },
  };
}

function wallet(kind: string): Recipe {
  const mint = { mint: kind, keeps: "token", card: walletCard };
  const fields = { payment_data_type: `${kind}_encrypted`, payment_data: "$token" };
  const does = "Pay with it, in place of the card's fields.";
  const paying = {
    ...sale,
    does,
    fields: { client_orderid: "$id", ...tickets, ...payer, ...fields },
  };
  return { ids: { id: "wallet" }, steps: [mint, paying] };
}

const walletCard = JSON.stringify({
  pan: "4111111111111111",
  expirationYear: 2031,
  expirationMonth: 12,
  amount: 1042,
  currency: "USD",
});

const winnings = { amount: "25.00", currency: "USD" };
const paidOut: Step = {
  does: "Send money to a card.",
  operation: "payout",
  fields: { client_orderid: "$id", ...winnings, credit_card_number: "4000001000000018" },
  keeps: keepsOrder,
};
const one = { id: "invoice" };
const { ipaddress: customer_ip, ...customer } = payer;
const { cvv2: _, ...keptCard } = approving;
const profiled: Step = {
  does: "Register a card without a payment.",
  operation: "create-recurring-payment",
  fields: {
    client_orderid: "$id",
    rp_card_type: "SRC",
    ...month,
    ...customer,
    customer_ip,
    ...keptCard,
  },
  keeps: { profile: "recurring-payment-id" },
};
const cardSteps = [paid, registered];
const uploaded = { "client-order-id": "$CLIENT_ORDERID", orderid: "$ORDERID" };
const keepsMethod = { ...keepsOrder, transaction: "tds-method-url-frame-3ds-server-trans-id" };

/** One profile each; the third line of the creation is refused, because its number is mistyped. */
export const samplePayloads = {
  create: [
    "rp-card-type,client-orderid,credit-card-number,currency",
    "DST,receiver-1,4000001000000018,USD",
    "DST,receiver-2,4000001000000019,USD",
  ].join("\n"),
  process: [
    "client-orderid,recurring-payment-id,amount",
    "subscription-12-05,5518203974410682937,19.99",
  ].join("\n"),
  update: [
    "client-orderid,recurring-payment-id,amount",
    "update-12,5518203974410682937,24.99",
  ].join("\n"),
} as const;

/** The payload of a change names the profile that the example has registered. */
function plural(operation: keyof typeof samplePayloads, does: string): Recipe {
  const payload = samplePayloads[operation]
    .replace(/(subscription|update)-[\d-]+/, "$${next}")
    .replace("5518203974410682937", "$${profile}");
  const step = { does, operation: `${operation}-recurring-payments`, fields: { payload } };
  const isChange = payload.includes("$");
  const ids = isChange ? { id: "subscriber", next: "subscription" } : {};
  return { oauth: true, ids, steps: isChange ? [profiled, step] : [step] };
}

/** The recipes by name. A recipe with the name of an operation is on the page of that operation. */
// biome-ignore format: a table
export const recipes: Readonly<Record<string, Recipe>> = {
  "first-sale":  { ids: one, steps: [sale] },
  "refund":      { ids: one, steps: [paid, status, { does: "Refund all of it.", operation: "return", sync: true, fields: { ...order, comment: "Cancelled show" } }] },
  "recurrent":   { ...rebill("make-rebill"), steps: [...rebill("make-rebill").steps, { does: "Forget the card.", operation: "remove-card-ref", fields: { cardrefid: "$cardrefid" } }] },
  "redirect":    { ids: { id: "secure" }, steps: [secure("4000002000000024", {})] },
  "oauth":       { oauth: true, ids: one, steps: [paid, status] },
  "walleta":     wallet("walleta"),
  "walletb":     wallet("walletb"),

  "sale":        { ids: one, steps: [{ ...paid, does: "Charge a card.", sync: false }, status] },
  "preauth":     { ids: one, steps: [held] },
  "capture":     { ids: one, steps: [held, { does: "Charge a part of it; the rest is no longer held.", operation: "capture", sync: true, fields: { ...order, amount: "150.00", currency: "USD" } }] },
  "return":      { ids: one, steps: [paid, { does: "Refund a part of it.", operation: "return", sync: true, fields: { ...order, amount: "4.00", currency: "USD" } }] },
  "void":        { ids: one, steps: [paid, { does: "Take it back before it is cleared.", operation: "void", sync: true, fields: { ...order } }] },
  "payout":      { oauth: true, ids: { id: "payout" }, steps: [paidOut, status] },
  "payout-by-ref": { oauth: true, ids: { id: "invoice", next: "payout" }, steps: [paid, { ...registered, operation: "create-card-ref-v4" }, { does: "Send money to the registered card.", operation: "payout-by-ref", fields: { client_orderid: "$next", ...winnings, "destination-card-ref-id": "$cardrefid" } }] },
  "status":      { ids: one, steps: [paid, status] },
  "account-verification": { ids: one, steps: [{ does: "Ask the issuer whether the card is good.", operation: "account-verification", sync: true, fields: { client_orderid: "$id", ...payer, ...approving } }] },
  "create-card-ref":      { ids: one, steps: cardSteps },
  "create-card-ref-v4":   { oauth: true, ids: one, steps: [paid, { ...registered, operation: "create-card-ref-v4" }] },
  "get-card-info":        { ids: one, steps: [...cardSteps, { does: "Read what may be shown of it.", operation: "get-card-info", fields: { cardrefid: "$cardrefid" } }] },
  "remove-card-ref":      { ids: one, steps: [...cardSteps, { does: "Forget the card.", operation: "remove-card-ref", fields: { cardrefid: "$cardrefid" } }] },
  "make-rebill":          rebill("make-rebill"),
  "make-rebill-sale":     rebill("make-rebill-sale"),
  "make-rebill-preauth":  rebill("make-rebill-preauth"),
  "create-recurring-payment":  { oauth: true, ids: { id: "subscriber" }, steps: [profiled] },
  "process-recurring-payment": { oauth: true, ids: { id: "subscriber", next: "subscription" }, steps: [profiled, { does: "Charge its amount.", operation: "process-recurring-payment", fields: { client_orderid: "$next", recurring_payment_id: "$profile" } }] },
  "update-recurring-payment":  { oauth: true, ids: { id: "subscriber", next: "update" }, steps: [profiled, { does: "Change the amount of later payments.", operation: "update-recurring-payment", fields: { client_orderid: "$next", recurring_payment_id: "$profile", amount: "24.99" } }] },
  "create-recurring-payments":  plural("create", "Register the cards of two receivers."),
  "process-recurring-payments": plural("process", "Charge the profiles of the payload."),
  "update-recurring-payments":  plural("update", "Change the profiles of the payload."),
  "create-ephemeral-ticket":    { oauth: true, ids: {}, steps: [{ does: "Ask for a ticket, each time the page is shown.", operation: "create-ephemeral-ticket", fields: {} }] },
  "sale-form":            form("sale-form", "Open a payment page, and send the cardholder's browser to its redirect-url.", tickets),
  "preauth-form":         form("preauth-form", "Open a payment page that holds the amount.", tickets),
  "account-verification-form": form("account-verification-form", "Open a page that checks a card.", {}),
  "upload-method-url-result":  { ids: { id: "secure" }, steps: [secure("4000002000000016", keepsMethod), { does: "Tell the gateway whether the issuer's method has run in the browser.", operation: "upload-method-url-result", endpoint: "SECURE_ENDPOINT", fields: { "client-order-id": "$id", orderid: "$orderid", threeDSServerTransID: "$transaction", threeDSCompInd: "N", notificationURL: "https://shop.example/3ds/notification", browserUserAgent: "Mozilla/5.0", browserAcceptHeader: "text/html", browserLanguage: "en-GB", browserColorDepth: "24", browserScreenHeight: "900", browserScreenWidth: "1440", browserTZ: "-60", browserJavaEnabled: "false", browserJavascriptEnabled: "true" } }] },
  "upload-cres-result":   { ids: {}, steps: [{ does: "Pass on what the issuer has posted to your notification page.", operation: "upload-cres-result", endpoint: "SECURE_ENDPOINT", fields: { ...uploaded, cres: "$CRES" } }] },
  "upload-pares-result":  { ids: {}, steps: [{ does: "Pass on what the issuer has posted to your TermUrl.", operation: "upload-pares-result", endpoint: "SECURE_ENDPOINT", fields: { ...uploaded, paRes: "$PARES", md: "$MD" } }] },
};
