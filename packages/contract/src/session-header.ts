/**
 * The request header in which a browser names the session that it signed in to: of several cookies of the session's name
 * the one of that session counts, and any other session is refused with `session_replaced` (contract 2).
 */
export const SESSION_HEADER = 'Platform-Session';
