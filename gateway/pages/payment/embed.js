/**
 * Opens a payment page inside a page of the shop, as an overlay or in an element:
 *
 *   <script src="https://pay.example/pay/embed.js"></script>
 *   PaymentPage.open(redirectUrl, { onResult: ({ status, orderId }) => … });
 *
 * It sees no card data: the page is a frame of the gateway's own origin, which tells the result
 * and nothing else. A shop shows the result to its customer, and relies on the callback or on a
 * status request.
 */
(() => {
  const own = new URL(document.currentScript.src).origin;

  /**
   * `frame`: the element that the page is put into; an overlay without it. `onResult`: called
   * once, with `status`, `orderId` and `clientOrderId`. `onClose`: the overlay was closed before.
   * `title` and `closeLabel`: for screen readers.
   */
  function open(url, options = {}) {
    const { frame: place, onResult, onClose, title = "Payment", closeLabel = "Close" } = options;
    const address = new URL(url, location.href);
    if (address.origin !== own) throw new Error(`not a payment page of ${own}: ${address.origin}`);
    const frame = document.createElement("iframe");
    frame.src = address.href;
    frame.title = title;
    frame.allow = "payment; publickey-credentials-get; publickey-credentials-create";
    frame.referrerPolicy = "no-referrer";
    const overlay = place ? undefined : makeOverlay(frame, closeLabel);
    Object.assign(frame.style, {
      border: "0",
      width: "100%",
      background: "transparent",
      height: overlay ? "100%" : options.height || "48rem",
    });
    let isOpen = true;

    function remove() {
      if (!isOpen) return false;
      isOpen = false;
      removeEventListener("message", hear);
      // The overlay gives the focus back to the element that had it.
      overlay?.close();
      (overlay || frame).remove();
      return true;
    }

    function hear({ source, origin, data }) {
      if (source !== frame.contentWindow || origin !== own || data?.from !== "payment-page") return;
      if (data.event === "close" && overlay && remove()) onClose?.();
      if (data.event === "result" && remove()) {
        const { status, orderId, clientOrderId } = data;
        onResult?.({ status, orderId, clientOrderId });
      }
    }

    addEventListener("message", hear);
    if (overlay) {
      // Escape, and the back gesture of phones.
      overlay.addEventListener("cancel", (event) => {
        event.preventDefault();
        if (remove()) onClose?.();
      });
      overlay.querySelector("button").addEventListener("click", () => {
        if (remove()) onClose?.();
      });
      document.body.append(overlay);
      // A modal dialog keeps the focus inside, and the page behind it inert.
      overlay.showModal();
      frame.focus();
    } else {
      place.append(frame);
    }
    return { close: remove };
  }

  /** Styled by properties: the shop's policy may allow no style sheet of ours. */
  function makeOverlay(frame, closeLabel) {
    const overlay = document.createElement("dialog");
    overlay.setAttribute("aria-label", frame.title);
    Object.assign(overlay.style, {
      boxSizing: "border-box",
      width: "min(32rem, 100vw)",
      height: "min(52rem, 100dvh)",
      maxWidth: "100vw",
      maxHeight: "100dvh",
      padding: "0",
      border: "0",
      overflow: "hidden",
      borderRadius: "min(1rem, calc((100vw - 32rem) * 99))",
      background: "Canvas",
    });
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "×";
    button.setAttribute("aria-label", closeLabel);
    Object.assign(button.style, {
      position: "absolute",
      insetInlineEnd: ".5rem",
      top: ".5rem",
      zIndex: "1",
      width: "2.75rem",
      height: "2.75rem",
      border: "0",
      borderRadius: "50%",
      font: "1.5rem/1 system-ui, sans-serif",
      background: "ButtonFace",
      color: "ButtonText",
      cursor: "pointer",
    });
    overlay.append(button, frame);
    return overlay;
  }

  window.PaymentPage = { open };
})();
