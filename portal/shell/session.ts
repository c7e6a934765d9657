/**
 * The session of this browser. Every screen belongs to a user whose sign-in is complete, and shows
 * what the rights of that user allow.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { call, type Session, type User } from "./call.ts";

export const sessionKey = ["session"] as const;

/** Reads the session. With an interval it is read repeatedly, because it may time out. */
export function useSession(everyMs?: number) {
  return useQuery({
    queryKey: sessionKey,
    queryFn: ({ signal }) => call("GET /session", {}, { signal, isPoll: true }),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
}

/** An empty user, for the moment between the end of a session and the sign-in screen. */
const signedOut: User = { login: "", role: "", rights: [] };

export function useUser() {
  const user = useQueryClient().getQueryData<Session>(sessionKey)?.user ?? signedOut;
  return {
    ...user,
    isOperator: user.merchant === undefined,
    may: (right: string) => user.rights.includes(right),
  };
}

/** Stores the session from the answer to a step of signing in. */
export function useAccept(): (session: Session) => void {
  const queries = useQueryClient();
  return (session) => void queries.setQueryData(sessionKey, session);
}

/** Ends the session here and in the gateway. The portal then shows the sign-in. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await call("POST /sign-out", {}).catch(() => undefined);
    await queries.invalidateQueries({ queryKey: sessionKey });
  };
}
