/** What zod says by itself, and what is left where nobody found words. No person reads it. */
export const ZOD_PHRASES =
  /Invalid (?:input|option|string|key|value|element|date|URL|UUID|union)|expected \w+, received|Too (?:big|small)|Unrecognized key|ZodError|\bNaN\b|\bundefined\b|\[object /i;
