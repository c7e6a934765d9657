/**
 * Simulates the sandbox's wallets in the browser, in staging only: the Payment Request API of a
 * browser with both wallets, with a plain payment sheet. The payment page's own script runs
 * unchanged.
 */
(() => {
  const native = window.PaymentRequest;
  const wallets = {
    "https://walleta.sandbox.invalid/pay": "walleta",
    "https://walletb.sandbox.invalid/pay": "walletb",
  };
  const detailsOf = {
    walleta: (text) => ({ token: { paymentData: JSON.parse(text) } }),
    walletb: (token) => ({ paymentMethodData: { tokenizationData: { token } } }),
  };
  const place = new URL("../staging/wallets", location.href).pathname;
  let isShown = false;

  // The page's policy permits no style in the document, but a script may add a style sheet.
  const style = new CSSStyleSheet();
  style.replaceSync(`
    #sandbox-sheet { box-sizing: border-box; width: min(24rem, calc(100vw - 2rem)); padding: 1.5rem;
      border: 1px solid var(--edge); border-radius: 1rem; color: var(--ink);
      background: var(--surface); box-shadow: 0 24px 64px -16px rgb(0 0 0 / 0.5); }
    #sandbox-sheet::backdrop { background: rgb(0 0 0 / 0.5); }
    #sandbox-sheet h2 { margin: 0 0 1rem; font-size: 1.1rem; }
    #sandbox-sheet select { width: 100%; margin: 0.375rem 0 1.25rem; }
    #sandbox-sheet button { display: block; width: 100%; margin: 0; }
    #sandbox-sheet button + button { margin-block-start: 0.5rem; color: var(--ink);
      background: none; border: 1px solid var(--edge); }
  `);
  document.adoptedStyleSheets.push(style);

  class SandboxRequest {
    onmerchantvalidation = null;
    #wallet;
    #total;

    constructor(wallet, { total }) {
      this.#wallet = wallet;
      this.#total = total;
    }

    async canMakePayment() {
      return true;
    }

    async show() {
      if (isShown) throw new DOMException("A sheet is open.", "AbortError");
      isShown = true;
      try {
        const { validation, cards } = await (await ask(place)).json();
        if (this.#wallet === "walleta") await this.#validate(validation);
        const pan = await choose(this.#total.amount, cards);
        const body = new URLSearchParams({ ...this.#total.amount, pan });
        const answer = await ask(`${place}/${this.#wallet}`, { method: "POST", body });
        const details = detailsOf[this.#wallet](await answer.text());
        return { details, complete: async () => undefined };
      } finally {
        isShown = false;
      }
    }

    /** The page requests a session from its server. Without one the sheet does not open. */
    async #validate(validationURL) {
      const session = await new Promise((resolve, reject) => {
        this.onmerchantvalidation({
          validationURL,
          complete: (given) => Promise.resolve(given).then(resolve, reject),
        });
      });
      if (!session.merchantSessionIdentifier) throw new DOMException("No session.", "DataError");
    }
  }

  async function ask(address, options) {
    const answer = await fetch(address, options);
    if (!answer.ok) throw new DOMException(`HTTP ${answer.status}`, "OperationError");
    return answer;
  }

  /**
   * Resolves with the chosen card. Rejects as a browser does if the cardholder closes the sheet.
   */
  function choose({ value, currency }, cards) {
    const make = (name, properties, ...children) => {
      const element = Object.assign(document.createElement(name), properties);
      element.append(...children);
      return element;
    };
    const options = cards.map(({ card, name }) =>
      make("option", { value: card }, `card ···${card.slice(-4)}, ${name}`),
    );
    const select = make("select", { id: "sandbox-card" }, ...options);
    const label = make("label", { htmlFor: "sandbox-card" }, "With");
    const title = make("h2", { id: "sandbox-title" }, `Sandbox wallet: pay ${value} ${currency}`);
    const pay = make("button", { type: "button" }, "Pay");
    const cancel = make("button", { type: "button" }, "Cancel");
    const sheet = make("dialog", { id: "sandbox-sheet" }, title, label, select, pay, cancel);
    sheet.setAttribute("aria-labelledby", title.id);
    document.body.append(sheet);
    sheet.showModal();
    return new Promise((resolve, reject) => {
      pay.addEventListener("click", () => {
        resolve(select.value);
        sheet.close();
      });
      cancel.addEventListener("click", () => sheet.close());
      sheet.addEventListener("close", () => {
        sheet.remove();
        reject(new DOMException("The cardholder has closed the sheet.", "AbortError"));
      });
    });
  }

  window.PaymentRequest = function PaymentRequest(methods, details) {
    const wallet = wallets[methods[0].supportedMethods];
    if (wallet) return new SandboxRequest(wallet, details);
    return new native(methods, details);
  };
})();
