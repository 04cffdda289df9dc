// Amounts as people read them.

export interface Currency {
  readonly code: string;
  readonly decimals: number;
}

/** Minor units as a decimal number, such as `-12.50`. */
export function decimalText(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = decimals === 0 ? '' : `.${digits.slice(-decimals)}`;
  return `${value < 0n ? '-' : ''}${whole}${fraction}`;
}

/** With the code of the currency, such as `12.50 CREDIT`. */
export function moneyText(value: bigint, { code, decimals }: Currency): string {
  return `${decimalText(value, decimals)} ${code}`;
}
