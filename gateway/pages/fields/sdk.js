/**
 * Puts the gateway's card fields into a form of the shop (hosted fields, version 1). Each field is
 * a frame of the gateway's origin, and this script never sees what is typed: it passes on focus,
 * whether a field is filled, the network, styles, the ticket, the token and errors. A published
 * version never changes.
 */
(() => {
  const script = new URL(document.currentScript.src);
  const own = script.origin;
  const folder = script.href.replace(/\/[^/]+(\/libs)?\/hosted-fields\/.*$/, "/sdk/hosted-fields");
  const types = ["pan", "exp", "cvv"];
  const [readyMs, waitMs, heightMin] = [10_000, 5_000, 16];
  let live;

  const messages = {
    1001: ["the script has the origin of the page", "load it from the gateway's host"],
    1002: [
      "a field has no usable container",
      "give each field an empty, visible element of its own",
    ],
    1003: ["a container is covered or made invisible", "put nothing over it, and style it plainly"],
    1004: ["a field has an unknown type", "use one field each of pan, exp and cvv"],
    1005: ["init was called before", "call destroy first"],
    1006: ["the endpoint has no hosted fields", "compare endpointId with the gateway's settings"],
  };

  if (own === location.origin) throw Object.assign(new Error(messages[1001][0]), { code: 1001 });

  function errorOf(code, field, more = "") {
    const [message, tip] = messages[code];
    return { code, message: message + more, tip, field };
  }

  /** Returns why the container cannot have the field, or undefined. */
  function faultOf({ id, place, frame }) {
    if (!place) return errorOf(1002, id, `: there is no element ${id}`);
    const isEmpty = place.children.length === 0 && place.textContent.trim() === "";
    if (!frame && !isEmpty) return errorOf(1002, id, `: ${id} is not empty`);
    if (!place.isConnected || (frame && frame.parentNode !== place)) return errorOf(1002, id);
    if (isInvisible(place)) return errorOf(1003, id);
    return isCovered(place) ? errorOf(1003, id) : undefined;
  }

  function isInvisible(place) {
    const { transform, filter, clipPath, visibility, display } = getComputedStyle(place);
    if ([transform, filter, clipPath].some((value) => value !== "none")) return true;
    if (visibility !== "visible" || display === "none") return true;
    let shown = 1;
    for (let at = place; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (at === place && Number(style.opacity) < 1) return true;
      if (style.display === "none" || style.clipPath !== "none") return true;
      if (/opacity|brightness|contrast|blur/.test(style.filter)) return true;
      shown *= Number(style.opacity);
    }
    return shown < 0.5;
  }

  /** Looks at three places of the container. A part outside of the window cannot be judged. */
  function isCovered(place) {
    const { left, top, width, height } = place.getBoundingClientRect();
    const above = [0.1, 0.5, 0.9].map((part) =>
      document.elementFromPoint(left + part * width, top + height / 2),
    );
    const strange = above.filter((at) => at && !place.contains(at) && !at.contains(place));
    return strange.length > 1;
  }

  function init({ endpointId, fields = {}, onReady, onToken, onError, onNetwork } = {}) {
    const all = Object.entries(fields).map(([id, field]) => {
      return { id, ...field, place: document.getElementById(id) };
    });
    const group = [...crypto.getRandomValues(new Uint8Array(16))].join("-");
    let [fault, timer, waiting] = [undefined, undefined, all.length];
    const instance = { tokenize, setStyle, destroy };

    const isWhole =
      all
        .map(({ type }) => type)
        .sort()
        .join() === types.toSorted().join();
    if (live) fault = errorOf(1005);
    else if (!isWhole) fault = errorOf(1004);
    fault ??= all.map(faultOf).find(Boolean);
    if (fault) setTimeout(() => fail(fault));
    else begin();
    return instance;

    function begin() {
      live = instance;
      for (const each of all) addFrame(each);
      document.addEventListener("click", onClick);
      timer = setTimeout(() => {
        fault = errorOf(1002, undefined, ": a frame did not load, or this site may not embed it");
        fail(fault);
      }, readyMs);
    }

    function addFrame(each) {
      const frame = document.createElement("iframe");
      const words = new URLSearchParams({ lang: document.documentElement.lang });
      const id = encodeURIComponent(endpointId);
      frame.src = `${folder}/field/${id}/${each.type}?${words}#${group}`;
      frame.referrerPolicy = "no-referrer";
      Object.assign(frame.style, {
        display: "block",
        width: "100%",
        height: each.place.clientHeight < heightMin ? "2.75rem" : "100%",
        border: "0",
        // A frame of another colour scheme than the page would not be transparent.
        colorScheme: "light",
      });
      frame.addEventListener("load", () => {
        const { port1, port2 } = new MessageChannel();
        each.port = port1;
        port1.onmessage = ({ data }) => hear(each, data);
        const { placeholder, style } = each;
        frame.contentWindow.postMessage({ from: "hosted-fields", placeholder, style }, own, [
          port2,
        ]);
      });
      each.frame = frame;
      each.place.append(frame);
    }

    function hear(each, { event, title, filled, network, token, error }) {
      const mark = (word, is) => each.place.classList.toggle(`hf-field--${word}`, is);
      if (event === "ready") {
        each.frame.title = title;
        waiting -= 1;
        if (waiting === 0) {
          clearTimeout(timer);
          onReady?.();
        }
      }
      if (event === "focus" || event === "blur") mark("focus", event === "focus");
      if (event === "input") {
        mark("filled", filled);
        markError(false);
        if (each.type === "pan") onNetwork?.(network);
      }
      if (event === "token") onToken?.(token);
      if (event === "error") {
        const { type, ...told } = error;
        // All three frames tell that the endpoint has no hosted fields, and the page hears it once.
        if (fault) return;
        if (told.code < 2000) {
          clearTimeout(timer);
          fault = errorOf(told.code);
        }
        fail(fault ?? { ...told, field: all.find((other) => other.type === type)?.id });
      }
    }

    function fail(error) {
      if (error.code >= 2000) markError(true);
      onError?.(error);
    }

    function markError(is) {
      for (const { place } of all) place.classList.toggle("hf-field--error", is);
    }

    function tokenize(ticket) {
      const found = fault ?? all.map(faultOf).find(Boolean);
      if (found) return fail(found);
      if (waiting > 0) return fail(errorOf(1002, undefined, ": the fields are not ready yet"));
      markError(false);
      const { port } = all.find(({ type }) => type === "pan");
      port.postMessage({ event: "tokenize", ticket: String(ticket) });
    }

    function setStyle(id, style) {
      const each = all.find((other) => other.id === id);
      if (!each) return;
      each.style = style;
      each.port?.postMessage({ event: "style", style });
    }

    /** A click on a label of the shop moves the cursor into the field. */
    function onClick({ target }) {
      const name = target.closest?.("label")?.htmlFor;
      all.find(({ id }) => id === name)?.frame.focus();
    }

    function destroy() {
      if (live !== instance) return;
      live = undefined;
      fault = errorOf(1002, undefined, ": the fields were destroyed");
      clearTimeout(timer);
      document.removeEventListener("click", onClick);
      for (const { frame, place, port } of all) {
        port?.close();
        frame.remove();
        for (const word of ["focus", "filled", "error"])
          place.classList.remove(`hf-field--${word}`);
      }
    }
  }

  const HostedFields = Object.freeze({ init });
  window.HostedFields = HostedFields;
  const startedAt = Date.now();
  (function announce() {
    if (typeof window.onHostedFieldsReady === "function") window.onHostedFieldsReady(HostedFields);
    else if (Date.now() - startedAt < waitMs) setTimeout(announce, 20);
  })();
})();
