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
    formData.set("credit_card_number", formData.get("credit_card_number").replaceAll(" ", ""));
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
