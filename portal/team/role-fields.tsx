/** The role of a user, and the merchant where the role is one of a merchant. */
import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMessages } from "../language/language.tsx";
import { call, type InputOf, type OutputOf, type User } from "../shell/call.ts";

export type Listed = OutputOf<"GET /users">["users"][number];
export type Role = InputOf<"POST /users/add">["role"];
export type Chosen = { readonly role: Role; readonly merchant: string };

type RoleFieldsProps = {
  readonly user: User;
  readonly chosen: Chosen;
  readonly choose: (chosen: Chosen) => void;
};

const isMerchants = (role: string) => role.startsWith("merchant-");

export function RoleFields({ user, chosen, choose }: RoleFieldsProps) {
  const messages = useMessages();
  const isOperator = user.merchant === undefined;
  const filters = useQuery({
    queryKey: ["filters"],
    queryFn: ({ signal }) => call("GET /filters", {}, { signal }),
    enabled: isOperator,
  });
  // An administrator of a merchant makes no operator.
  const offered = (Object.keys(messages.roles) as Role[]).filter(
    (role) => isOperator || isMerchants(role),
  );
  return (
    <>
      <NativeSelect
        label={messages.role}
        description={messages.roleHints[chosen.role]}
        value={chosen.role}
        data={offered.map((role) => ({ value: role, label: messages.roles[role] }))}
        onChange={({ currentTarget }) => choose({ ...chosen, role: currentTarget.value as Role })}
      />
      {isOperator && isMerchants(chosen.role) && (
        <NativeSelect
          label={messages.merchant}
          required
          withAsterisk={false}
          value={chosen.merchant}
          data={[
            { value: "", label: "" },
            ...(filters.data?.merchants ?? []).map(({ login }) => ({ value: login, label: login })),
          ]}
          onChange={({ currentTarget }) => choose({ ...chosen, merchant: currentTarget.value })}
        />
      )}
    </>
  );
}

/** As the gateway takes it: operators name the merchant, a merchant's administrator has one. */
export function roleInput({ role, merchant }: Chosen, user: User) {
  const isNamed = user.merchant === undefined && isMerchants(role);
  return isNamed ? { role, merchant } : { role };
}
