export interface Item {
  readonly article: string;
  readonly amount: number;
}

export interface Stock {
  available(article: string): Promise<number>;
  reserve(article: string, amount: number, basket: string): Promise<void>;
}

export interface Payments {
  open(basket: string): Promise<string>;
}

/** Open the payment page for a basket; its address. */
export async function checkout(stock: Stock, payments: Payments, basket: string, items: readonly Item[]): Promise<string> {
  for (const item of items) {
    if ((await stock.available(item.article)) < item.amount) {
      throw new Error(`not enough of ${item.article}`);
    }
    stock.reserve(item.article, item.amount, basket);
  }
  return payments.open(basket);
}
