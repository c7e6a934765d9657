/**
 * Does what only the customer's browser can do: describes the browser for 3-D Secure, asks a wallet
 * for a payment token, and reloads a page that waits for a result. Everything else works without
 * scripts.
 */
const pay = document.getElementById("pay");
const wallets = document.getElementById("wallets");
const { againAfterS } = document.body.dataset;

if (againAfterS) setTimeout(() => location.reload(), Number(againAfterS) * 1000);

if (pay) {
  const browser = {
    color_depth: screen.colorDepth,
    java_enabled: navigator.javaEnabled(),
    javascript_enabled: true,
    screen_height: screen.height,
    screen_width: screen.width,
    time_zone: new Date().getTimezoneOffset(),
  };
  pay.addEventListener("formdata", ({ formData }) => {
    const number = formData.get("credit_card_number");
    if (number !== null) formData.set("credit_card_number", number.replaceAll(" ", ""));
    for (const [name, value] of Object.entries(browser)) {
      formData.set(`customer_browser_${name}`, String(value));
    }
  });
  for (const button of document.querySelectorAll("[data-card]")) {
    button.addEventListener("click", () => {
      const card = { credit_card_number: button.dataset.card, cvv2: "123" };
      const rest = { expire_month: "12", expire_year: "2031", card_printed_name: "JANE DOE" };
      for (const [name, value] of Object.entries({ ...card, ...rest })) {
        pay.elements[name].value = value;
      }
      pay.elements.credit_card_number.focus();
    });
  }
}

if (wallets) {
  wallets.hidden = false;
  for (const button of wallets.querySelectorAll("[data-wallet]")) {
    button.addEventListener("click", async () => {
      const { wallet } = button.dataset;
      // A real shop opens the wallet's own sheet here; the sandbox gives the same token without it.
      const answer = await fetch(`/wallets/${wallet}`, { method: "POST" });
      if (!answer.ok) {
        wallets.querySelector(".problem").textContent = "The wallet does not answer. Pay by card.";
        return;
      }
      wallets.elements.wallet.value = wallet;
      // The token is sent as base64, otherwise unchanged.
      wallets.elements.payment_data.value = btoa(await answer.text());
      wallets.submit();
    });
  }
}

/** The colours of the shop's own inputs, which the frames of the gateway cannot read. */
function fieldStyle() {
  const shown = getComputedStyle(pay.elements.card_printed_name);
  const { color, backgroundColor, fontFamily, fontSize } = shown;
  const input = { color, backgroundColor, fontFamily, fontSize, padding: "0 0.75rem" };
  return { input: { ...input, outline: "none" }, placeholder: { color: "#78716c" } };
}

/** The page with hosted fields gets a token for the card, and posts it in place of the card. */
if (pay?.dataset.ticket) {
  const { ticket, endpoint } = pay.dataset;
  window.onHostedFieldsReady = (HostedFields) => {
    const style = fieldStyle();
    const places = [...pay.querySelectorAll("[data-type]")].map(({ id, dataset }) => {
      return [id, { type: dataset.type, placeholder: dataset.hint, style }];
    });
    const fields = HostedFields.init({
      endpointId: endpoint,
      fields: Object.fromEntries(places),
      onToken(token) {
        pay.elements.hosted_fields_token.value = token;
        pay.submit();
      },
      onError({ payerMessage = "The card cannot be entered now. Reload the page." }) {
        pay.querySelector(".problem").textContent = payerMessage;
      },
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      for (const [id] of places) fields.setStyle(id, fieldStyle());
    });
    pay.addEventListener("submit", (event) => {
      event.preventDefault();
      fields.tokenize(ticket);
    });
  };
}
