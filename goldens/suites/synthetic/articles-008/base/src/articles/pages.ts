export interface Author {
  id: string;
  name: string;
}

export interface Article {
  id: string;
  authorId: string;
  headline: string;
  summary: string;
  tags: string[];
  publishedAt: number;
}

export interface Reader {
  id: string;
  displayName: string;
}

export interface AuthorSource {
  findById(id: string): Promise<Author | undefined>;
  findByIds(ids: readonly string[]): Promise<Map<string, Author>>;
}

export interface ArticleSource {
  count(section: string): Promise<number>;
  newest(section: string, offset: number, limit: number): Promise<Article[]>;
  search(words: string, limit: number): Promise<Article[]>;
  byId(id: string): Promise<Article | undefined>;
}

export interface ReadLog {
  markRead(readerId: string, articleId: string): Promise<void>;
}

export class NoSuchPage extends Error {}

const PAGE_SIZE = 20;
const MAX_RESULTS = 50;
const MAX_TAGS = 6;
const SUMMARY_LENGTH = 160;

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

export function shorten(text: string, length: number): string {
  if (text.length <= length) {
    return text;
  }
  return `${text.slice(0, length - 1)}…`;
}

export function tagList(tags: readonly string[]): string {
  const items: string[] = [];
  for (let index = 0; index < tags.length && index < MAX_TAGS; index += 1) {
    const tag = tags[index] as string;
    items.push(`<li>${escapeHtml(tag)}</li>`);
  }
  return `<ul>${items.join("")}</ul>`;
}

export function articleCard(article: Article, author: Author | undefined): string {
  const by = author === undefined ? "" : `<address>${escapeHtml(author.name)}</address>`;
  const headline = escapeHtml(article.headline);
  const summary = escapeHtml(shorten(article.summary, SUMMARY_LENGTH));
  return `<article><h2>${headline}</h2>${by}<p>${summary}</p>${tagList(article.tags)}</article>`;
}

export function greeting(reader: Reader): string {
  return `<p>Good to see you, ${escapeHtml(reader.displayName)}.</p>`;
}

export class ArticlePages {
  constructor(
    private readonly articles: ArticleSource,
    private readonly authors: AuthorSource,
    private readonly reads: ReadLog,
  ) {}

  async section(name: string, page: number): Promise<string> {
    if (!Number.isInteger(page) || page < 1) {
      throw new RangeError("pages are counted from 1");
    }
    const pages = Math.max(1, Math.ceil((await this.articles.count(name)) / PAGE_SIZE));
    if (page > pages) {
      throw new NoSuchPage(`${name} has ${pages} pages`);
    }
    const articles = await this.articles.newest(name, (page - 1) * PAGE_SIZE, PAGE_SIZE);
    return this.cards(articles);
  }

  async search(words: string, wanted: number): Promise<string> {
    const articles = await this.articles.search(words, Math.min(wanted, MAX_RESULTS));
    const heading = `<h1>Results for ${escapeHtml(words)}</h1>`;
    return heading + (await this.cards(articles));
  }

  async read(articleId: string, reader: Reader): Promise<string> {
    const article = await this.articles.byId(articleId);
    if (article === undefined) {
      throw new NoSuchPage(articleId);
    }
    await this.reads.markRead(reader.id, article.id);
    const author = await this.authors.findById(article.authorId);
    return greeting(reader) + articleCard(article, author);
  }

  async latest(section: string, since: number, wanted: number): Promise<Article[]> {
    const articles = await this.articles.newest(section, 0, Math.min(wanted, MAX_RESULTS));
    return articles.filter((article) => article.publishedAt > since);
  }

  async authorNames(articles: readonly Article[]): Promise<string[]> {
    const authors = await this.authors.findByIds(articles.map((article) => article.authorId));
    return [...authors.values()].map((author) => author.name);
  }

  private async cards(articles: readonly Article[]): Promise<string> {
    const authors = await this.authors.findByIds(articles.map((article) => article.authorId));
    const cards = articles.map((article) => articleCard(article, authors.get(article.authorId)));
    return cards.join("\n");
  }
}
