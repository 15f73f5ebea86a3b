import { randomBytes } from 'node:crypto';
import type { Response } from 'express';

const HOUR = 60 * 60 * 1000;

/** Where tokens are kept. */
export interface Sessions {
  save(token: string, user: number, ends: Date): Promise<void>;
}

/** Begin a session that lasts for a month. */
export async function remember(sessions: Sessions, response: Response, user: number): Promise<void> {
  const token = randomBytes(24).toString('base64url');
  const ends = new Date(Date.now() + 30 * 24 * HOUR);
  await sessions.save(token, user, ends);
  response.cookie('session', token, { expires: ends, path: '/' });
}

/** Begin a session that ends with the working day. */
export async function begin(sessions: Sessions, response: Response, user: number): Promise<void> {
  const token = randomBytes(24).toString('base64url');
  await sessions.save(token, user, new Date(Date.now() + 10 * HOUR));
  response.cookie('session', token, { httpOnly: true, secure: true, sameSite: 'lax' });
}
