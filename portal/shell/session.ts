/** This browser's session. Screens need a complete sign-in, and show what the rights allow. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { call, type Session, type User } from "./call.ts";

export const sessionKey = ["session"] as const;

/** With `everyMs`, the session is read again at this interval, because it may time out. */
export function useSession(everyMs?: number) {
  return useQuery({
    queryKey: sessionKey,
    queryFn: ({ signal }) => call("GET /session", {}, { signal, isPoll: true }),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
}

/** Screens get this user in the moment between the end of a session and the sign-in. */
const signedOut: User = { login: "", role: "", rights: [] };

export function useUser() {
  const user = useQueryClient().getQueryData<Session>(sessionKey)?.user ?? signedOut;
  return {
    ...user,
    isOperator: user.merchant === undefined,
    may: (right: string) => user.rights.includes(right),
  };
}

/** Stores the session that the gateway returns for a step of signing in. */
export function useAccept(): (session: Session) => void {
  const queries = useQueryClient();
  return (session) => void queries.setQueryData(sessionKey, session);
}

/** Ends the session in the gateway and in this browser. The portal then shows the sign-in. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await call("POST /sign-out", {}).catch(() => undefined);
    await queries.invalidateQueries({ queryKey: sessionKey });
  };
}
