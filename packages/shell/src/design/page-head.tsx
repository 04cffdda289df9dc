// The heading of a page of Settings.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icons.tsx';

interface PageHeadProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** The page one level up. */
  readonly up?: { readonly href: string; readonly label: string };
}

/** Moves the focus to the heading of each page, for screen readers too. */
export function PageHead({ title, children, up }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <header class="page-head">
      {up !== undefined && (
        <a class="up" href={up.href}>
          <Icon name="back" size={18} />
          {up.label}
        </a>
      )}
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </header>
  );
}
