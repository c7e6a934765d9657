/**
 * The part of the script that opens wallets. A wallet's token goes into the form in place of a card
 * and is sent with it; `startWallets` is called at the end of the card form's script.
 */

/** Where each wallet has its token. */
const tokenIn = {
  walletb_encrypted: ({ paymentMethodData }) => paymentMethodData.tokenizationData.token,
};

// biome-ignore lint/correctness/noUnusedVariables: the script after it uses it
function startWallets(form, isReady, send) {
  const place = document.getElementById("wallets");
  if (!place || typeof PaymentRequest === "undefined") return;
  const total = { label: document.title, amount: JSON.parse(place.dataset.total) };
  const fault = document.getElementById("wallets-fault");

  const requestFor = ({ dataset }) => {
    const data = JSON.parse(dataset.request);
    return new PaymentRequest([{ supportedMethods: dataset.method, data }], { total });
  };

  async function pay(wallet) {
    fault.textContent = "";
    if (!isReady()) return;
    try {
      const response = await requestFor(wallet).show();
      const token = tokenIn[wallet.dataset.type](response.details);
      await response.complete("success");
      // Not before: after a fault, the form is sent with a card.
      form.elements.payment_data.value = token;
      form.elements.payment_data_type.value = wallet.dataset.type;
      send();
    } catch (error) {
      // The cardholder has closed the wallet.
      if (error.name !== "AbortError") fault.textContent = place.dataset.failed;
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
