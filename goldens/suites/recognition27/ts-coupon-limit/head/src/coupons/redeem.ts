import type { Request } from 'express';

export interface Coupon {
  readonly code: string;
  readonly percent: number;
}

const MOST_PERCENT = 50;

/** What is left to pay, in cents. */
export function reduced(total: number, coupons: readonly Coupon[]): number {
  const percent = coupons.reduce((sum, coupon) => sum + coupon.percent, 0);
  return Math.round((total * (100 - Math.min(percent, MOST_PERCENT))) / 100);
}

/** The coupons that a form holds, three at most. */
export function codesOf(request: Request): string[] {
  const codes = request.query.coupon as string[];
  if (codes.length > 3) {
    throw new RangeError('three coupons at most');
  }
  return Array.from(codes, (code) => code.trim().toUpperCase());
}
