/**
 * Opens a payment page inside a page of the shop, as an overlay or in an element:
 *
 *   <script src="https://pay.example/pay/embed.js"></script>
 *   PaymentPage.open(redirectUrl, { onResult: ({ status, orderId }) => … });
 *
 * This script sees no card data: the page is in a frame of the gateway's origin, which sends the
 * result to this page and nothing else. A shop shows the result to its customer, and relies on the
 * callback or on a status request.
 */
(() => {
  const own = new URL(document.currentScript.src).origin;

  /**
   * Opens the page in the element `frame`, or in an overlay if there is none. `onResult` is called
   * once, with `status`, `orderId` and `clientOrderId`. `onClose` is called if the overlay is
   * closed before there is a result. `title` and `closeLabel` are for screen readers.
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
      // Closing the overlay returns the focus to the element that had it before.
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
      // The Escape key and the back gesture of phones close the overlay.
      overlay.addEventListener("cancel", (event) => {
        event.preventDefault();
        if (remove()) onClose?.();
      });
      overlay.querySelector("button").addEventListener("click", () => {
        if (remove()) onClose?.();
      });
      document.body.append(overlay);
      // A modal dialog keeps the focus inside and makes the page behind it inert.
      overlay.showModal();
      frame.focus();
    } else {
      place.append(frame);
    }
    return { close: remove };
  }

  /**
   * Makes the overlay. Its styles are set one by one, because the shop's policy may not permit a
   * style sheet of the gateway.
   */
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
