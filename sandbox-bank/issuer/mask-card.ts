/** The form in which a card number may be shown, logged and kept: first six, last four digits. */
export function maskCard(card: string): string {
  return card.length < 12 ? "****" : `${card.slice(0, 6)}****${card.slice(-4)}`;
}
