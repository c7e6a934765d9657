/**
 * Makes a value for any field of an action from the description of the field: its kind, permitted
 * values and names. A text may have a format that its kind does not say, so it has a sample here.
 */
import { type Field, namesOf, written } from "@tollgate/gateway/field";

/** Returns the words that set the field on the command line. */
export function wordsFor(name: string, field: Field): readonly string[] {
  const { yes, no } = namesOf(name, field);
  if (field.kind === "toggle") return [`--${yes ?? no}`];
  if (field.kind === "flag") return [`--${written(name)}`];
  return [`--${written(name)}`, sampleOf(name, field)];
}

function sampleOf(name: string, { kind, choices }: Field): string {
  const last = kind === "switch" ? undefined : choices?.findLast((each) => each !== "none");
  const sample = last ?? texts[name] ?? byKind[kind];
  if (sample === undefined) throw new Error(`there is no sample for the field ${name}`);
  return sample;
}

const byKind: Readonly<Partial<Record<Field["kind"], string>>> = {
  switch: "on",
  amount: "12.50",
  fee: "2.5%+30",
  whole: "3",
  day: "2030-01-31",
  moment: "2030-01-31T09:30:00Z",
  duration: "12h",
  colour: "#1a5fb4",
  url: "https://shop.example/path",
  currency: "USD",
  picture: "<folder>/logo.svg",
};

const texts: Readonly<Record<string, string>> = {
  host: "127.0.0.1:2,127.0.0.1:3",
  tlsRoots: "<bank>/directory-ca.pem",
  tlsName: "host.example",
  tlsCertificate: "<bank>/gateway.pem",
  tlsKey: "<bank>/gateway.key",
  terminal: "10000043",
  merchantCode: "ACME2",
  nameAndPlace: "ACME-Utrecht",
  category: "5733",
  country: "528",
  acquirerId: "412346",
  descriptor: "ACME-shop",
  zone: "Europe/Amsterdam",
  refundAfter: "23:00",
  currencies: "USD,EUR",
  optional: "email,phone",
  payoutFields: "first_name,expire_month",
  shopName: "Acme",
  pageFields: "email,country",
  embedOrigins: "https://shop.example",
  networks: "JCB",
  certificate: "<bank>/gateway.pem",
  key: "<bank>/gateway.key",
  authority: "<bank>/directory-ca.pem",
  paresRoots: "<bank>/directory-ca.pem",
  resultsName: "results.example",
  referenceNumber: "reference-2",
  operatorId: "operator-2",
  requestorId: "requestor-2",
  requestorName: "Acme",
  walletaMerchant: "shop.example",
  walletaCountry: "NL",
  walletbRecipient: "merchant:acme",
  walletbMerchant: "acme-2",
  gate: "sandbox",
  cell: "main",
  cardKeepDays: "31",
  healthWindow: "60",
  healthMin: "20",
};
