/**
 * Opens wallets. The payment data that a wallet returns is put into the form and posted in place of
 * a card. The script of the card form calls `startWallets` at its end.
 */

/** Functions that take the payment data out of each wallet's response. */
const tokenIn = {
  walleta_encrypted: ({ token }) => JSON.stringify(token.paymentData),
  walletb_encrypted: ({ paymentMethodData }) => paymentMethodData.tokenizationData.token,
};

/**
 * Requests the merchant session without which walleta shows no payment sheet. The gateway requests
 * it from walleta in the name of the merchant.
 */
async function askSession(url) {
  const address = `${location.pathname.replace(/\/$/, "")}/wallet-session`;
  const answer = await fetch(address, { method: "POST", body: new URLSearchParams({ url }) });
  if (!answer.ok) throw new Error(`no session: ${answer.status}`);
  return answer.json();
}

// biome-ignore lint/correctness/noUnusedVariables: the script after it uses it
function startWallets(form, isReady, send) {
  const place = document.getElementById("wallets");
  if (!place || typeof PaymentRequest === "undefined") return;
  const total = { label: document.title, amount: JSON.parse(place.dataset.total) };
  const fault = document.getElementById("wallets-fault");

  const requestFor = ({ dataset }) => {
    const data = JSON.parse(dataset.request);
    const request = new PaymentRequest([{ supportedMethods: dataset.method, data }], { total });
    request.onmerchantvalidation = (event) => event.complete(askSession(event.validationURL));
    return request;
  };
  let isOpen = false;

  async function pay(wallet) {
    fault.textContent = "";
    if (isOpen || !isReady()) return;
    isOpen = true;
    try {
      const response = await requestFor(wallet).show();
      const token = tokenIn[wallet.dataset.type](response.details);
      await response.complete("success");
      // The payment data is put into the form only after the wallet has succeeded. If the wallet
      // fails, the form must not contain such data, because the cardholder may then pay with a
      // card.
      form.elements.payment_data.value = token;
      form.elements.payment_data_type.value = wallet.dataset.type;
      send();
    } catch (error) {
      // An `AbortError` means that the cardholder has closed the wallet, which is no fault.
      if (error.name !== "AbortError") fault.textContent = place.dataset.failed;
    } finally {
      isOpen = false;
    }
  }

  for (const wallet of place.querySelectorAll("button")) {
    wallet.addEventListener("click", () => void pay(wallet));
    Promise.resolve()
      .then(() => requestFor(wallet).canMakePayment())
      .then((isPossible) => {
        if (!isPossible) return;
        wallet.hidden = false;
        place.hidden = false;
      })
      .catch(() => undefined);
  }
}
