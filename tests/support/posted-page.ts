/**
 * A payment page in scenario tests: the merchant opens it, and the cardholder's browser posts what
 * is typed.
 */
import assert from "node:assert/strict";
import { type makeMerchant, plainCard, type SaleFields, saleFields } from "./merchant.ts";

type Merchant = ReturnType<typeof makeMerchant>;

/** Returns the fields of a sale that a form request has. */
export function formFields(fields: SaleFields = {}) {
  const { ipaddress: _, credit_card_number: __, card_printed_name: ___, ...rest } = saleFields();
  const { expire_month: _month, expire_year: _year, cvv2: _cvv, ...own } = rest;
  return { ...own, ...fields };
}

export async function openPage(merchant: Merchant, fields: SaleFields = {}, through = "plain") {
  const opened = await merchant.endpoint(through).saleForm(formFields(fields));
  return { ...opened, "redirect-url": opened["redirect-url"] ?? "" };
}

/** The values that the cardholder types, by the names of the page's fields. */
// biome-ignore format: a table
export const typed = {
  "cc-number":    plainCard,
  "cc-exp-month": "12",
  "cc-exp-year":  "31",
  "cc-csc":       "123",
  "cc-name":      "JANE DOE",
};

type Page = { readonly "redirect-url": string };

/** Posts the form once, as a browser does. Redirects are not followed. */
export async function pay(page: Page, fields: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(page["redirect-url"], {
    method: "POST",
    body: new URLSearchParams({ ...typed, ...fields }),
    redirect: "manual",
  });
  const body = await answer.text();
  assert.ok(!body.includes(plainCard), "the page shows a card number");
  return { status: answer.status, location: answer.headers.get("location"), body };
}

/** Returns what the cardholder sees at the page's address. */
export async function look(page: Page) {
  const answer = await fetch(page["redirect-url"], { redirect: "manual" });
  const body = await answer.text();
  return { status: answer.status, takesCard: body.includes('name="cc-number"'), body };
}
