/**
 * Opens wallets. A wallet's token is put into the form in place of a card and posted with it. The
 * script of the card form calls `startWallets` at its end.
 */

/** Returns the token from each wallet's response. */
const tokenIn = {
  walleta_encrypted: ({ token }) => JSON.stringify(token.paymentData),
  walletb_encrypted: ({ paymentMethodData }) => paymentMethodData.tokenizationData.token,
};

/**
 * Requests the session that walleta's payment sheet needs. The gateway fetches it in the name of
 * the merchant.
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
      // These fields are filled in last, because after a fault the cardholder may pay with a card
      // instead.
      form.elements.payment_data.value = token;
      form.elements.payment_data_type.value = wallet.dataset.type;
      send();
    } catch (error) {
      // With this error, the cardholder has closed the wallet.
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
