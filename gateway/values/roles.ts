/**
 * The rights to change, see and move money: a row for each right, a column for each role. A
 * merchant's roles have their rights within that merchant only.
 */

const operatorRoles = ["admin", "support", "finance", "auditor"] as const;
const merchantRoles = [
  ...(["merchant-admin", "merchant-developer", "merchant-viewer", "merchant-clerk"] as const),
] as const;
/** Accounts that run programs have the role `service`, and cannot sign in. */
export const portalRoles = [...operatorRoles, ...merchantRoles] as const;
export const roles = [...portalRoles, "service"] as const;
export type Role = (typeof roles)[number];

/**
 * The login of a merchant's user is followed by that of the merchant, like `anna@acme`, so that it
 * never equals the login of an operator or an account of the machine.
 */
export const userNameForm = /^[A-Za-z0-9._-]{1,40}$/;

const y = true;
const n = false;

const matrix = {
  //  admin, support, finance, auditor, merchant-admin, -developer, -viewer, -clerk, service
  see_orders: [y, y, y, y, y, y, y, y, n],
  see_configuration: [y, y, y, y, y, y, n, n, n],
  see_audit: [y, n, n, y, n, n, n, n, n],
  reveal_secrets: [y, n, n, n, y, y, n, n, n],
  resend_callbacks: [y, y, n, n, y, y, n, n, n],
  share_views: [y, y, y, n, y, y, n, n, n],
  move_money: [y, n, y, n, y, n, n, n, n],
  enter_orders: [y, n, n, n, y, n, n, y, n],
  reconcile: [y, n, y, n, n, n, n, n, n],
  change_merchants: [y, n, n, n, n, n, n, n, n],
  change_acquiring: [y, n, n, n, n, n, n, n, n],
  manage_keys: [y, n, n, n, y, y, n, n, n],
  manage_users: [y, n, n, n, y, n, n, n, n],
  erase_data: [y, n, n, n, n, n, n, n, n],
  operate: [y, n, n, n, n, n, n, n, n],
  run: [y, n, n, n, n, n, n, n, y],
} as const satisfies Readonly<Record<string, readonly boolean[]>>;

export type Right = keyof typeof matrix;
export const rights = Object.keys(matrix) as readonly Right[];

export function isMerchantRole(role: Role): boolean {
  return merchantRoles.some((each) => each === role);
}

export function hasRight(role: Role, right: Right): boolean {
  return matrix[right][roles.indexOf(role)] === true;
}
