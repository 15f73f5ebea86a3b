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

/** The coupon that a form holds. */
export function codeOf(request: Request): string {
  return String(request.query.coupon ?? '').trim().toUpperCase();
}
