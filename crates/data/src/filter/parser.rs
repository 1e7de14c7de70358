//! The grammar of conditions and expressions, read from left to right without going back further than one value.

use super::lexer::Cursor;
use super::tree::{Condition, Expression, Function, Instant, Literal, Names, Operator};
use crate::cell::Number;
use crate::error::shown;

/// The deepest nesting of parentheses, `not`, signs and calls. Reading, checking and evaluating go as deep as the text.
const DEEPEST: usize = 64;
/// The longest text, in bytes.
const LONGEST: usize = 1 << 20;

const NOT_OPENED: &str = "a parenthesis is closed that was not opened";
const QUOTES: [char; 2] = ['\'', '"'];
const BACKQUOTE: [char; 1] = ['`'];

/// A filter as read.
pub(super) struct ParsedFilter {
    /// The distinct columns, in order of first mention.
    pub(super) columns: Vec<String>,
    pub(super) condition: Condition,
    /// The values without quotes that are not numbers.
    pub(super) bare: Vec<String>,
}

/// Reads a whole filter; the error says what is wrong, for the end of a sentence.
pub(super) fn parse_filter(text: &str) -> Result<ParsedFilter, String> {
    let mut parser = Parser::new(text)?;
    parser.cursor.skip_blanks();
    let node = parser.any()?;
    let condition = parser.condition(node)?;
    parser.cursor.skip_blanks();
    match parser.cursor.peek() {
        None => {}
        Some(')') => return Err(NOT_OPENED.to_owned()),
        Some(_) => {
            let stray = parser.cursor.stray();
            return Err(format!("\"{stray}\" follows a condition: join conditions with and, or"));
        }
    }
    Ok(ParsedFilter { columns: parser.names.into_list(), condition, bare: parser.bare })
}

/// Reads a whole expression.
pub(super) fn parse_expression(text: &str) -> Result<(Vec<String>, Expression), String> {
    let mut parser = Parser::new(text)?;
    let expression = parser.expression()?;
    parser.cursor.skip_blanks();
    match parser.cursor.peek() {
        None => Ok((parser.names.into_list(), expression)),
        Some(')') => Err(NOT_OPENED.to_owned()),
        Some(_) => Err(format!("\"{}\" cannot follow here", parser.cursor.stray())),
    }
}

/// Parentheses may hold either.
enum Node<'a> {
    Condition(Condition),
    /// With its text.
    Expression(Expression, &'a str),
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    names: Names,
    bare: Vec<String>,
    /// How many parentheses, `not`, signs and calls are open.
    depth: usize,
    /// How many parentheses are open.
    open: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        let (names, bare) = (Names::default(), Vec::new());
        Ok(Self { cursor: Cursor::new(text), names, bare, depth: 0, open: 0 })
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        if self.depth == DEEPEST {
            return Err(format!("it is nested more than {DEEPEST} levels deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn condition(&self, node: Node<'_>) -> Result<Condition, String> {
        match node {
            Node::Condition(condition) => Ok(condition),
            Node::Expression(_, text) => {
                let name = text.trim_matches(QUOTES);
                Err(format!("there is no comparison after \"{}\"", shown(name)))
            }
        }
    }

    /// Conditions joined by `or`.
    fn any(&mut self) -> Result<Node<'a>, String> {
        self.joined("or", Self::all, Condition::Any)
    }

    /// Conditions joined by `and`.
    fn all(&mut self) -> Result<Node<'a>, String> {
        self.joined("and", Self::negation, Condition::All)
    }

    fn joined(
        &mut self,
        word: &str,
        part: impl Fn(&mut Self) -> Result<Node<'a>, String>,
        join: impl Fn(Vec<Condition>) -> Condition,
    ) -> Result<Node<'a>, String> {
        let first = part(self)?;
        self.cursor.skip_blanks();
        if !self.cursor.is_keyword(word) {
            return Ok(first);
        }
        let mut parts = vec![self.condition(first)?];
        while self.cursor.keyword(word) {
            let next = part(self)?;
            parts.push(self.condition(next)?);
            self.cursor.skip_blanks();
        }
        Ok(Node::Condition(join(parts)))
    }

    fn negation(&mut self) -> Result<Node<'a>, String> {
        self.cursor.skip_blanks();
        let mut ahead = self.cursor.clone();
        if ahead.keyword("not") {
            ahead.skip_blanks();
            // A column may have the name "not".
            if ahead.peek().is_some_and(|next| !"=!<>+*/)".contains(next)) {
                self.cursor = ahead;
                let inner = self.deeper(Self::negation)?;
                return Ok(Node::Condition(Condition::Not(Box::new(self.condition(inner)?))));
            }
        }
        self.comparison()
    }

    /// A comparison, or what stands in parentheses.
    fn comparison(&mut self) -> Result<Node<'a>, String> {
        let start = self.cursor.position();
        match self.cursor.peek() {
            None => return Err("a condition is missing".to_owned()),
            Some('=' | '!' | '<' | '>') => return Err("a column name is missing".to_owned()),
            Some(_) => {}
        }
        let left = match self.quoted_column()? {
            Some(column) => column,
            None => match self.sum()? {
                Node::Expression(left, _) => left,
                node => return Ok(node),
            },
        };
        let text = self.cursor.since(start);
        self.cursor.skip_blanks();
        if let Some((sign, operator)) =
            Operator::SIGNS.into_iter().find(|(sign, _)| self.cursor.rest().starts_with(sign))
        {
            self.cursor.advance(sign);
            self.cursor.skip_blanks();
            let right = match operator.is_order() {
                true => self.ordered(operator, &format!("{text}{sign}"))?,
                false => self.equated(&left, &format!("{text}{sign}"))?,
            };
            if !left.has_column() && !right.has_column() {
                return Err(format!("\"{}\" compares two constants", shown(self.cursor.since(start))));
            }
            return Ok(Node::Condition(Condition::Compare { left, operator, right }));
        }
        if !self.cursor.is_postfix() {
            return Ok(Node::Expression(left, text));
        }
        if !left.has_column() {
            return Err(format!("\"{}\" has no column", shown(text)));
        }
        if let Some(is_missing) = self.cursor.missing() {
            let condition = Condition::Missing(left);
            let negated = |condition| Condition::Not(Box::new(condition));
            return Ok(Node::Condition(if is_missing { condition } else { negated(condition) }));
        }
        let is_negated = self.cursor.keyword("not");
        self.cursor.skip_blanks();
        let condition = match self.cursor.keyword("in") {
            true => self.list(left)?,
            false => self.range(left)?,
        };
        Ok(Node::Condition(if is_negated { Condition::Not(Box::new(condition)) } else { condition }))
    }

    /// A column in quotes: only by itself on the left of a comparison.
    fn quoted_column(&mut self) -> Result<Option<Expression>, String> {
        let before = self.cursor.clone();
        let Some(name) = self.cursor.quoted(&QUOTES)? else { return Ok(None) };
        let mut ahead = self.cursor.clone();
        ahead.skip_blanks();
        if ahead.peek().is_some_and(|next| "+-*/)".contains(next)) {
            self.cursor = before;
            return Ok(None);
        }
        if name.is_empty() {
            return Err("a column name is missing".to_owned());
        }
        Ok(Some(Expression::Column(self.names.place(&name))))
    }

    /// Whether a condition may end here.
    fn is_end(&self) -> bool {
        let mut ahead = self.cursor.clone();
        ahead.skip_blanks();
        match ahead.peek() {
            None => true,
            Some(')') => self.open > 0,
            Some(_) => ahead.is_keyword("and") || ahead.is_keyword("or"),
        }
    }

    /// The value in quotes that is next, if nothing but the end of the condition or arithmetic follows it.
    fn quoted_value(&mut self, after: &str) -> Result<Option<Literal>, String> {
        let before = self.cursor.clone();
        let Some(text) = self.cursor.quoted(&QUOTES)? else { return Ok(None) };
        if self.is_end() {
            let literal = Literal::new(&text);
            return match literal.text.is_empty() {
                true => Err(format!("a value is missing after \"{}\"", shown(after))),
                false => Ok(Some(literal)),
            };
        }
        let mut ahead = self.cursor.clone();
        ahead.skip_blanks();
        if ahead.peek().is_some_and(|next| "+-*/".contains(next)) {
            self.cursor = before;
            return Ok(None);
        }
        Err(format!("\"{}\" follows a quoted value", ahead.stray()))
    }

    /// The right side of `=` and `!=`: a value as it stands, or arithmetic that cannot be taken for one.
    fn equated(&mut self, left: &Expression, after: &str) -> Result<Expression, String> {
        if let Some(literal) = self.quoted_value(after)? {
            return Ok(Expression::Literal(literal));
        }
        let value = self.cursor.value(false, self.open > 0);
        if value.is_empty() {
            return Err(format!("a value is missing after \"{}\"", shown(after)));
        }
        let rest = self.cursor.rest();
        if rest.starts_with(['`', '\'', '"']) {
            return self.ended_expression();
        }
        let calls = || {
            Function::NAMES.iter().any(|(name, _)| {
                let mut ahead = self.cursor.clone();
                ahead.keyword(name) && ahead.peek() == Some('(')
            })
        };
        let is_left_column = matches!(left, Expression::Column(_));
        if !is_left_column
            || rest.starts_with('(')
            || rest.starts_with("-(")
            || rest.starts_with("-`")
            || calls()
        {
            let (cursor, names, bare, open) =
                (self.cursor.clone(), self.names.len(), self.bare.len(), self.open);
            if let Ok(right) = self.ended_expression()
                && right.has_column()
                && (right.is_computed() || !is_left_column)
            {
                return Ok(right);
            }
            self.cursor = cursor;
            self.names.truncate(names);
            self.bare.truncate(bare);
            self.open = open;
        }
        self.cursor.advance(value);
        let literal = Literal::new(value);
        if literal.number.is_none() {
            self.bare.push(literal.text.clone());
        }
        Ok(Expression::Literal(literal))
    }

    /// The right side of `<`, `<=`, `>` and `>=`: a number, a date, a column or arithmetic.
    fn ordered(&mut self, operator: Operator, after: &str) -> Result<Expression, String> {
        let refuse = |value: &str| {
            format!("\"{}\" compares with a number, and \"{}\" is not one", operator.sign(), shown(value))
        };
        if let Some(literal) = self.quoted_value(after)? {
            return if literal.is_text() {
                Err(refuse(&literal.text))
            } else {
                Ok(Expression::Literal(literal))
            };
        }
        let value = self.cursor.value(false, self.open > 0);
        if value.is_empty() {
            return Err(format!("a value is missing after \"{}\"", shown(after)));
        }
        let literal = Literal::new(value);
        if !literal.is_text() {
            self.cursor.advance(value);
            return Ok(Expression::Literal(literal));
        }
        // Words such as inf and nan are not numbers here, and nobody means columns by them.
        if value.parse::<f64>().is_ok() {
            return Err(refuse(value));
        }
        let is_word = !value.contains(|next| "()+*/-`'\"".contains(next));
        self.ended_expression().map_err(|problem| if is_word { refuse(value) } else { problem })
    }

    /// An expression after which the condition ends.
    fn ended_expression(&mut self) -> Result<Expression, String> {
        let start = self.cursor.position();
        let expression = self.expression()?;
        if !self.is_end() {
            let text = shown(self.cursor.since(start));
            self.cursor.skip_blanks();
            if self.cursor.peek() == Some(')') {
                return Err(NOT_OPENED.to_owned());
            }
            return Err(format!("\"{}\" cannot follow \"{text}\"", self.cursor.stray()));
        }
        Ok(expression)
    }

    fn list(&mut self, operand: Expression) -> Result<Condition, String> {
        self.cursor.skip_blanks();
        self.cursor.eat("(");
        let mut literals = Vec::new();
        loop {
            self.cursor.skip_blanks();
            let literal = match self.cursor.quoted(&QUOTES)? {
                Some(text) => Literal::new(&text),
                None => {
                    let value = self.cursor.value(true, true);
                    self.cursor.advance(value);
                    let literal = Literal::new(value);
                    if literal.number.is_none() {
                        self.bare.push(literal.text.clone());
                    }
                    literal
                }
            };
            if literal.text.is_empty() {
                return Err("a value is missing in the list after \"in\"".to_owned());
            }
            literals.push(literal);
            self.cursor.skip_blanks();
            if self.cursor.eat(")") {
                return Ok(Condition::Among { operand, values: super::tree::Values::new(literals) });
            }
            if !self.cursor.eat(",") {
                return Err(match self.cursor.peek() {
                    None => "the list after \"in\" is not closed".to_owned(),
                    Some(_) => format!("\"{}\" follows a quoted value", self.cursor.stray()),
                });
            }
        }
    }

    fn range(&mut self, operand: Expression) -> Result<Condition, String> {
        self.cursor.keyword("between");
        let low = self.bound()?;
        self.cursor.skip_blanks();
        if !self.cursor.keyword("and") {
            return Err("\"between\" needs two ends: between LOW and HIGH".to_owned());
        }
        let high = self.bound()?;
        Ok(Condition::Between { operand, low, high })
    }

    fn bound(&mut self) -> Result<Expression, String> {
        self.cursor.skip_blanks();
        if self.cursor.peek().is_none() || self.cursor.is_keyword("and") || self.cursor.is_keyword("or") {
            return Err("\"between\" needs two ends: between LOW and HIGH".to_owned());
        }
        self.expression()
    }

    fn expression(&mut self) -> Result<Expression, String> {
        let node = self.sum()?;
        self.operand(node)
    }

    fn operand(&self, node: Node<'_>) -> Result<Expression, String> {
        match node {
            Node::Expression(expression, _) => Ok(expression),
            Node::Condition(_) => Err("a condition cannot be part of arithmetic".to_owned()),
        }
    }

    /// Terms with `+` and `-` between them.
    fn sum(&mut self) -> Result<Node<'a>, String> {
        self.chain(["+", "-"], Self::product, Expression::Sum)
    }

    /// Factors with `*` and `/` between them.
    fn product(&mut self) -> Result<Node<'a>, String> {
        self.chain(["*", "/"], Self::signed, Expression::Product)
    }

    fn chain(
        &mut self,
        signs: [&str; 2],
        part: impl Fn(&mut Self) -> Result<Node<'a>, String>,
        join: impl Fn(Vec<(bool, Expression)>) -> Expression,
    ) -> Result<Node<'a>, String> {
        self.cursor.skip_blanks();
        let start = self.cursor.position();
        let first = part(self)?;
        let mut terms = Vec::new();
        let mut first = Some(first);
        loop {
            let mut ahead = self.cursor.clone();
            ahead.skip_blanks();
            let Some(is_second) = signs.iter().position(|sign| ahead.eat(sign)) else { break };
            if let Some(first) = first.take() {
                terms.push((false, self.operand(first)?));
            }
            self.cursor = ahead;
            let next = part(self)?;
            terms.push((is_second == 1, self.operand(next)?));
        }
        Ok(match first {
            Some(first) => first,
            None => Node::Expression(join(terms), self.cursor.since(start)),
        })
    }

    /// An operand with or without a minus.
    fn signed(&mut self) -> Result<Node<'a>, String> {
        self.cursor.skip_blanks();
        let start = self.cursor.position();
        if !self.cursor.eat("-") {
            return self.primary();
        }
        let mut ahead = self.cursor.clone();
        if let Some(digits) = ahead.literal().filter(|text| Number::parse(text).is_ok()) {
            self.cursor = ahead;
            let literal = self.constant(&format!("-{digits}"))?;
            return Ok(Node::Expression(literal, self.cursor.since(start)));
        }
        let inner = self.deeper(Self::signed)?;
        let inner = self.operand(inner)?;
        Ok(Node::Expression(Expression::Negated(Box::new(inner)), self.cursor.since(start)))
    }

    fn constant(&self, text: &str) -> Result<Expression, String> {
        let literal = Literal::new(text);
        if literal.is_text() {
            let what = if text.contains(['-', ':']) { "a date of the calendar" } else { "a finite number" };
            return Err(format!("\"{}\" is not {what}", shown(text)));
        }
        Ok(Expression::Literal(literal))
    }

    fn primary(&mut self) -> Result<Node<'a>, String> {
        self.cursor.skip_blanks();
        let start = self.cursor.position();
        if self.cursor.eat("(") {
            self.open += 1;
            let node = self.deeper(Self::any)?;
            self.open -= 1;
            self.cursor.skip_blanks();
            if !self.cursor.eat(")") {
                return Err(match self.cursor.peek() {
                    None => "a parenthesis is not closed".to_owned(),
                    Some(_) => format!("\"{}\" cannot stand in parentheses here", self.cursor.stray()),
                });
            }
            return Ok(match node {
                Node::Expression(expression, _) => Node::Expression(expression, self.cursor.since(start)),
                condition => condition,
            });
        }
        if let Some(name) = self.cursor.quoted(&BACKQUOTE)? {
            if name.is_empty() {
                return Err("a column name is missing".to_owned());
            }
            let column = Expression::Column(self.names.place(&name));
            return Ok(Node::Expression(column, self.cursor.since(start)));
        }
        if let Some(text) = self.cursor.quoted(&QUOTES)? {
            if Number::parse(&text).is_err() && Instant::parse(&text).is_none() {
                return Err(format!(
                    "\"{}\" in quotes is text, which cannot be part of arithmetic: write a column as `{}`",
                    shown(&text),
                    shown(&text)
                ));
            }
            return Ok(Node::Expression(Expression::Literal(Literal::new(&text)), self.cursor.since(start)));
        }
        if let Some(text) = self.cursor.literal() {
            return Ok(Node::Expression(self.constant(text)?, self.cursor.since(start)));
        }
        let Some(name) = self.cursor.name() else {
            return Err(match self.cursor.peek() {
                None => "a column or a number is missing at the end".to_owned(),
                Some(next) => {
                    format!("a column or a number is missing before \"{}\"", shown(&next.to_string()))
                }
            });
        };
        let mut ahead = self.cursor.clone();
        ahead.skip_blanks();
        if !ahead.eat("(") {
            let column = Expression::Column(self.names.place(name));
            return Ok(Node::Expression(column, self.cursor.since(start)));
        }
        let Some(function) = Function::of(name) else {
            let known = Function::NAMES.map(|(name, _)| name).join(", ");
            return Err(format!("there is no function \"{}\": the functions are {known}", shown(name)));
        };
        self.cursor = ahead;
        self.open += 1;
        let arguments = self.deeper(Self::arguments)?;
        self.open -= 1;
        let fits = if function.takes_several() { arguments.len() >= 2 } else { arguments.len() == 1 };
        if !fits {
            let takes = if function.takes_several() { "two or more arguments" } else { "one argument" };
            return Err(format!("{} takes {takes}", function.name()));
        }
        Ok(Node::Expression(Expression::Call(function, arguments), self.cursor.since(start)))
    }

    /// The arguments of a call, up to its closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<Expression>, String> {
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.expression()?);
            self.cursor.skip_blanks();
            if self.cursor.eat(")") {
                return Ok(arguments);
            }
            if !self.cursor.eat(",") {
                return Err("a parenthesis is not closed".to_owned());
            }
        }
    }
}
