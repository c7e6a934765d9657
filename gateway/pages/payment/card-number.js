/**
 * The digits of a card number in a field, as the payment page and hosted fields show them. The
 * gateway puts `networkOf` before this script.
 */

/** Converts the digits of Arabic and Persian keyboards to 0 to 9. */
function inLatin(text) {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15));
}

function digitsOf(text) {
  return inLatin(text).replace(/\D/g, "");
}

/** Returns the digits in groups, as they are printed on cards of the network. */
function grouped(digits) {
  const network = networkOf(digits);
  const isShort = network === "AMEX" || (network === "DINERS" && digits.length < 15);
  const sizes = isShort ? [4, 6, 5] : [4, 4, 4, 4, 3];
  const groups = [];
  for (let start = 0; start < digits.length; start += sizes[groups.length - 1]) {
    groups.push(digits.slice(start, start + (sizes[groups.length] || 19)));
  }
  return groups.join(" ");
}

/** Groups the digits in the field for the card number. The caret stays behind the same digit. */
// biome-ignore lint/correctness/noUnusedVariables: the scripts after it use it
function groupDigits(number) {
  const before = digitsOf(number.value.slice(0, number.selectionStart)).length;
  const text = grouped(digitsOf(number.value).slice(0, 19));
  if (text === number.value) return;
  number.value = text;
  if (document.activeElement !== number) return;
  let caret = 0;
  for (let seen = 0; seen < before && caret < text.length; caret += 1) {
    if (text[caret] !== " ") seen += 1;
  }
  number.setSelectionRange(caret, caret);
}
